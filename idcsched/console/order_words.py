"""An order in words: what was asked, by whom."""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

from django.utils.translation import get_language

from idcsched.framework.messages import Message, _
from idcsched.framework.snapshot import Snapshot
from idcsched.language.figures import figure_text
from idcsched.language.wording import say

__all__ = ["NO_SUCH", "WINS_BELOW", "WINS_FROM", "beyond_form", "name_shown", "order_words", "try_address"]

WINS_FROM, WINS_BELOW = _("{idc} wins from {weight}"), _("{idc} wins below {weight}")
NO_SUCH: Final = _("there is no such {kind} any more")
NOT_IN_FORM: Final = (
    *("only", "exclude", "tier", "partition", "selector", "prefer", "tolerations", "shape", "fallback", "spread"),
    *("planned", "hypothetical"),
)
"""The fields of a request that change where an order goes, and that no field of the form is for."""

TWO_NAMES: Final = re.compile(r"(?P<zh>\S*[一-鿿]\S*)\s+(?P<other>[^一-鿿]+)")
"""A Chinese name, and the same in Latin letters."""
RESOURCES: Final[Mapping[str, Message | None]] = {
    "bandwidth_mbps": None,
    "cpu": _("{amount} cores"),
    "memory_gib": _("{amount} GiB of memory"),
    "disk_gib": _("{amount} GiB of disk"),
    "gpu": _("{amount} GPUs"),
}
MACHINES, AND, VIEWERS = _("{count} × {machine}"), _("{parts}, {part}"), _("viewers in {region}")

Document = Mapping[str, Any]


def name_shown(name: str) -> str:
    """Return the half of a name in two languages that the reader reads; any other name as it is."""
    halves = TWO_NAMES.fullmatch(name)
    if halves is None:
        return name
    return halves["zh"] if (get_language() or "").startswith("zh") else halves["other"]


def order_words(request: Document, snapshot: Snapshot) -> list[str]:
    """Return the parts of what was asked: machines, where, for whom."""
    return [part for part in _parts(request, snapshot) if part]


def try_address(request: Document, profile: str, *, tenant: str = "", decision: Any = None) -> str:
    """Return the parameters with which the page to try an order asks the same.

    For what its form can't say, `decision` is named, whose record has it.
    """
    parameters: list[tuple[str, Any]] = [("profile", profile)]
    parameters += [("tenant", tenant)] if tenant else []
    parameters += [("like", decision)] if decision and beyond_form(request) else []
    for name in ("region", "isp", "isp_match", "request_id"):
        parameters += [(name, value) for value in _several(request.get(name))[: None if name == "isp" else 1]]
    client = request.get("client") or {}
    where = client.get("region") or ",".join(str(client[name]) for name in ("latitude", "longitude") if name in client)
    parameters += [("client", where)] if where else []
    if business := (request.get("labels") or {}).get("business"):
        parameters.append(("business", business))
    for group in request.get("machines") or ():
        parameters.append(("count", group.get("count", 1)))
        parameters += [(name, group.get(name, "")) for name in RESOURCES]
    parameters += [(f"weight.{name}", weight) for name, weight in (request.get("weights") or {}).items()]
    return urlencode(parameters)


def beyond_form(request: Document) -> Document:
    """Return what a request says of the order that the form of the page to try one has no field for."""
    beyond = {name: request[name] for name in NOT_IN_FORM if request.get(name) is not None}
    labels = {key: value for key, value in (request.get("labels") or {}).items() if key != "business"}
    return {**beyond, "labels": labels} if labels else beyond


def _parts(request: Document, snapshot: Snapshot) -> Iterator[str]:
    yield _joined([_machines(group) for group in request.get("machines") or ()])
    regions = _several(request.get("region"))
    where = [*_several(request.get("isp")), *(_region(code, snapshot) for code in regions)]
    yield _joined([*where, *(request.get("only") or ())])
    client = (request.get("client") or {}).get("region")
    labels = (request.get("labels") or {}).values()
    yield _joined(
        [*(str(label) for label in labels), *([say(VIEWERS, {"region": _region(client, snapshot)})] if client else [])]
    )


def _machines(group: Document) -> str:
    amounts = [
        say(sentence, {"amount": figure_text(float(group[name]))})
        if sentence
        else f"{figure_text(float(group[name]))} Mbps"
        for name, sentence in RESOURCES.items()
        if group.get(name)
    ]
    return say(MACHINES, {"count": group.get("count", 1), "machine": _joined(amounts)}) if amounts else ""


def _region(code: str, snapshot: Snapshot) -> str:
    fact = snapshot.regions.get(code)
    return name_shown(fact.name) if fact and fact.name else code


def _several(value: Any) -> Sequence[str]:
    return [] if not value else [value] if isinstance(value, str) else value


def _joined(parts: Sequence[str]) -> str:
    text = ""
    for part in parts:
        text = say(AND, {"parts": text, "part": part}) if text and part else text or part
    return text
