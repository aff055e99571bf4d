"""The condition of a source in a word, and in a sentence for people."""

from django.utils.translation import gettext as _

from metrics_ingest.models import Source
from metrics_ingest.selectors import FAILING_FROM

__all__ = ["source_condition"]


def source_condition(source: Source) -> tuple[str, str]:
    """Return `off`, `new`, `answering`, `failed` or, from `FAILING_FROM` failures on, `failing`; and its sentence."""
    if not source.enabled:
        return "off", _("switched off")
    if source.failures:
        kind = "failing" if source.failures >= FAILING_FROM else "failed"
        return kind, _("failed {count} × in a row").format(count=source.failures)
    return ("new", _("not asked yet")) if source.succeeded_at is None else ("answering", _("answering"))
