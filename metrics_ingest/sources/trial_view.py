"""What the pages show of a trial, in the reader's language."""

from typing import Any

from django.utils.translation import gettext as _

from idcsched.language.wording import explained
from metrics_ingest.sources.mapping import Refused
from metrics_ingest.sources.trying import Trial

__all__ = ["trial_context", "unmatched_row"]


def trial_context(trial: Trial) -> dict[str, Any]:
    """Return a trial as the context of a template."""
    return {
        "trial": trial,
        "error": explained(trial.error) if trial.error else "",
        "refused": [_refusal_row(refused) for refused in trial.refused],
        "more_samples": trial.storable - len(trial.samples),
        "more_refused": trial.refused_count - len(trial.refused),
        "unmatched": [unmatched_row(*name) for name in trial.unmatched],
    }


def unmatched_row(idc: str, line: str | None, count: int) -> tuple[str, str, int]:
    """Return a name that matches nothing, with the number of its values."""
    return idc or _("the mapping's idc found nothing in the record"), line or "", count


def _refusal_row(refused: Refused) -> dict[str, str]:
    names = " ".join(filter(None, (refused.idc, refused.line, refused.metric)))
    value = "" if refused.value is None else str(refused.value)
    return {"names": names, "value": value, "reason": explained(refused.reason)}
