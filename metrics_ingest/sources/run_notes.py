"""The notes in a run's row: message templates with their parameters, bounded, as any database can store them."""

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any, Final

from idcsched.framework.errors import FieldError, IdcschedError
from idcsched.language.wording import explained
from metrics_ingest.sources.mapping import Mapped, Refused

__all__ = ["error_note", "note_said", "refusal_notes", "unmatched_notes"]

EXAMPLES: Final = 3
NAMES: Final = 50
LONGEST: Final = 500


def error_note(error: IdcschedError) -> dict[str, Any]:
    """Return the note of the error by which a run failed."""
    return _note(error.code, error.template, error.params)


def refusal_notes(counts: Counter[str], refused: Sequence[Refused]) -> list[dict[str, Any]]:
    """Return the refusals by reason, the most frequent first, each with a few examples."""
    return [
        {
            "code": code,
            "count": count,
            "examples": [_example(refusal) for refusal in refused if refusal.reason.code == code][:EXAMPLES],
        }
        for code, count in counts.most_common()
    ]


def unmatched_notes(mapped: Mapped) -> list[dict[str, Any]]:
    """Return the unknown names, the most frequent first."""
    return [
        {"idc": _text(idc), "line": _optional(line), "count": count}
        for (idc, line), count in mapped.unmatched.most_common(NAMES)
    ]


def note_said(note: Mapping[str, Any]) -> str:
    """Return the text of a note in the reader's language."""
    return explained(_error(note))


def _error(note: Mapping[str, Any]) -> FieldError:
    nested = {name: _error(value) if isinstance(value, Mapping) else value for name, value in note["params"].items()}
    return FieldError(**{"pointer": "", **note, "params": nested})


def _example(refused: Refused) -> dict[str, Any]:
    return {
        "idc": _text(refused.idc),
        "line": _optional(refused.line),
        "metric": _optional(refused.metric),
        "value": _optional(refused.value),
        "reason": _note(refused.reason.code, refused.reason.detail, refused.reason.params),
    }


def _note(code: str, detail: str, params: Mapping[str, Any] | None) -> dict[str, Any]:
    return {"code": code, "detail": detail, "params": _params(params)}


def _params(params: Mapping[str, Any] | None) -> dict[str, Any]:
    return {name: _param(value) for name, value in (params or {}).items()}


def _param(value: Any) -> Any:
    if isinstance(value, FieldError):
        return _note(value.code, value.detail, value.params)
    return value if isinstance(value, int) or (isinstance(value, float) and isfinite(value)) else _text(value)


def _optional(value: Any) -> str | None:
    return None if value is None else _text(value)


def _text(value: Any) -> str:
    """Return a source's value as text that any database can store: shortened, without NUL or lone surrogates."""
    return str(value)[:LONGEST].replace("\x00", "\ufffd").encode("utf-8", "replace").decode("utf-8")
