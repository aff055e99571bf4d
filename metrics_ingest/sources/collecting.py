"""One run of a source in a worker: claim, ask, map, store, record."""

import logging
from datetime import datetime, timedelta

from celery.exceptions import SoftTimeLimitExceeded

from idcsched.audit.context import origin_set
from idcsched.framework.errors import IdcschedError, Unavailable
from idcsched.framework.messages import _
from idcsched.outbound.secrets import SOURCE_SECRETS, Recipients, secret_resolve
from metrics_ingest.collector import Ask
from metrics_ingest.models import Run, Source
from metrics_ingest.samples.names import Names
from metrics_ingest.services.run import Clock, RunOver, run_begin, run_fail, run_store
from metrics_ingest.sources.mapping import Mapped
from metrics_ingest.sources.preparing import Prepared, prepare

__all__ = ["Clock", "gather", "source_collect"]

logger = logging.getLogger(__name__)

UNUSABLE = timedelta(seconds=1)
"""The duration of a run whose source's row can't be used: it asks nothing and ends at once."""
HIDDEN = "***"


def source_collect(*, source_id: int, clock: Clock, by_hand: bool = False) -> Run | None:
    """Ask the source, if it is due, and store its samples; None if it is not due.

    Any failure becomes the run's error. Safe to call twice at once, and at any time. A run `by_hand` goes past the
    circuit breaker, so that it tells the real error.
    """
    source = Source.objects.filter(pk=source_id).first()
    if source is None:
        return None
    prepared = _prepared(source)
    lasting = (
        timedelta(seconds=prepared.collector.config.timeout_seconds) if isinstance(prepared, Prepared) else UNUSABLE
    )
    run = run_begin(source_id=source_id, clock=clock, lasting=lasting)
    if run is None:
        return None
    try:
        with origin_set(actor="system", via="task"):
            return _asked_and_stored(run, source, prepared, clock, by_hand=by_hand)
    except RunOver as over:
        logger.warning("source %s: %s", source.code, over)
        return None


def gather(source: Source, prepared: Prepared, *, now: datetime, trial: bool = False) -> Mapped:
    """Ask the source and map its records; stores nothing. Raises an IdcschedError that does not contain the secret.

    With `trial`, the request is sent even to a host whose circuit breaker is open.
    """
    collector, ref = prepared.collector, source.secret_ref
    secret = secret_resolve(ref, collector.hosts(), setting=SOURCE_SECRETS) if ref else None
    recipients = Recipients(ref=ref, setting=SOURCE_SECRETS) if ref else None
    timeout = collector.config.timeout_seconds
    ask = Ask(now=now, timeout=timeout, secret=secret, recipients=recipients, trial=trial)
    try:
        names = Names.read()
        return prepared.mapping.samples(collector.collect(ask), names, now=now)
    except SoftTimeLimitExceeded:
        raise Unavailable("too_slow", _("the run was cut off: it took too long")) from None
    except IdcschedError as error:
        raise _without_secret(error, secret) from None
    except Exception as error:
        if secret is None:
            logger.exception("collector %s failed", source.kind)
        else:
            logger.error("collector %s failed: %s", source.kind, type(error).__name__)  # noqa: TRY400 - a traceback may have the secret
        detail = _("the collector failed: {error}")
        failed = Unavailable("collector_failed", detail, error=f"{type(error).__name__}: {error}"[:500])
        raise _without_secret(failed, secret) from None


def _prepared(source: Source) -> Prepared | IdcschedError:
    try:
        return prepare(source)
    except IdcschedError as error:
        return error


def _asked_and_stored(
    run: Run, source: Source, prepared: Prepared | IdcschedError, clock: Clock, *, by_hand: bool
) -> Run:
    if isinstance(prepared, IdcschedError):
        return run_fail(run=run, error=prepared, now=clock())
    try:
        mapped = gather(source, prepared, now=run.started_at, trial=by_hand)
        allow_empty = prepared.collector.config.allow_empty
        return run_store(run=run, mapped=mapped, now=clock(), allow_empty=allow_empty, rules=prepared.rules)
    except RunOver:
        raise
    except IdcschedError as error:
        return run_fail(run=run, error=error, now=clock())


def _without_secret(error: IdcschedError, secret: str | None) -> IdcschedError:
    """Return the error with the secret masked, since servers may repeat what they were sent."""
    if not secret:
        return error
    params = {
        name: str(value).replace(secret, HIDDEN) if secret in str(value) else value
        for name, value in error.params.items()
    }
    return Unavailable(error.code, error.template, **params)
