"""The health probes: whether this process is alive, and whether it may be sent requests."""

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from idcsched.db.migrated import migrated
from idcsched.db.places import place
from idcsched.db.standby import read_only
from idcsched.framework.errors import IdcschedError, Unavailable
from idcsched.jobs.selectors import working_redis
from idcsched.scheduling.live import live as picture

__all__ = ["live", "ready"]


@require_safe
@never_cache
def live(request: HttpRequest) -> JsonResponse:
    """Answer 200 as long as the process answers at all; depends on nothing."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """Answer 200 when the database can be written and is migrated and the snapshot is recent enough, else 503.

    The broker's state is reported as well, but does not count: recommendations need no broker. While no place is free,
    neither is asked.
    """
    snapshot = _state(_snapshot)
    try:
        with place():
            database, broker = _state(_database), _state(_broker)
    except Unavailable:  # no place is free to ask them; what reads the feed knows whether the database answers
        database, broker = "lagging" if picture.lagging else "ok", "not asked"
    status = HTTPStatus.OK if database == snapshot == "ok" else HTTPStatus.SERVICE_UNAVAILABLE
    state = "ok" if status == HTTPStatus.OK else "unavailable"
    body = {"status": state, "database": database, "snapshot": snapshot, "broker": broker}
    return JsonResponse(body, status=status)


def _state(check: Callable[[], str]) -> str:
    """Return the result of a check, or the type of its exception, whose text may contain addresses."""
    try:
        return check()
    except Exception as error:  # noqa: BLE001 - drivers raise what they like, and a probe always answers
        return f"unreachable ({type(error).__name__})"


def _database() -> str:
    if not migrated():
        return "not migrated"
    return "read-only" if read_only() else "ok"


def _snapshot() -> str:
    try:
        picture.current()
    except IdcschedError as error:
        return error.code
    return "ok"


def _broker() -> str:
    if not settings.REDIS_URL:
        return "embedded"
    with working_redis():
        return "ok"
