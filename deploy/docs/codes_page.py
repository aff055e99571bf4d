"""The text of docs/codes.md, from the codes in the source."""

from collections.abc import Iterable, Iterator

from django.conf import settings
from django.utils import translation

from deploy.docs.codes import known_codes
from idcsched.scheduling.plugins import registry

__all__ = ["codes_page"]

LANGUAGES = ("en", "zh-hans")
INTRODUCTION = """\
# Codes

<!-- Made by `make pages`. -->

What programs may rely on: a code never changes its meaning (see [how v1 may change](api.md#how-v1-may-change)); the
sentences beside it are for people, and may. `{fields}` are filled in. A `code` under `errors` is about one place of a
request; its `pointer` says which.
"""
UNSCHEDULABLE = {
    "none_feasible": (
        "IDCs were judged, and none fits: `rejected` says why",
        "有机房参与评估，但都不满足：原因见 `rejected`",
    ),
    "over_quota": (
        "the tenant's quota does not allow so much more, wherever it would fit: `summary` says how much is held",
        "租户配额不允许再增加这么多（无论哪个机房放得下）：已占用多少见 `summary`",
    ),
    "no_idc_in_region": ("there is no IDC where the request asks for one", "请求所指的范围内没有机房"),
}


def codes_page() -> str:
    """Return the text of docs/codes.md."""
    return "\n".join([INTRODUCTION, *_errors(), "", *_unschedulable(), "", *_rejections(), ""])


def _errors() -> Iterator[str]:
    yield "## Errors\n\nIn problem documents: `code`, and `errors[].code`.\n"
    yield from _table_head("code", "status")
    for code in known_codes(settings.BASE_DIR):
        statuses = ", ".join(map(str, sorted(code.statuses)))
        yield _row(f"`{code.name}`", statuses, *_in_languages(code.sentences))


def _unschedulable() -> Iterator[str]:
    yield "## Why nothing fits\n\n`reason_code` of a decision whose `result` is `unschedulable`.\n"
    yield from _table_head("code")
    yield from (_row(f"`{code}`", *meanings) for code, meanings in UNSCHEDULABLE.items())


def _rejections() -> Iterator[str]:
    yield "## Why an IDC was rejected\n\n`rejected[].code`, by plugin; those of third parties come with their own.\n"
    yield from _table_head("plugin", "code")
    for plugin, reason in registry().reasons():
        yield _row(f"`{plugin}`", f"`{reason.code}`", *_in_languages([reason.sentence]))


def _table_head(*first_columns: str) -> Iterator[str]:
    columns = [*first_columns, "meaning", "含义"]
    yield _row(*columns)
    yield "|---" * len(columns) + "|"


def _row(*cells: str) -> str:
    return "| " + " | ".join(cells) + " |"


def _in_languages(sentences: Iterable[str]) -> Iterator[str]:
    for language in LANGUAGES:
        with translation.override(language):
            yield "<br>".join(
                dict.fromkeys(translation.gettext(sentence).replace("|", "\\|") for sentence in sentences)
            )
