"""The first recommendation of a fresh installation, explained so that somebody who knows the trade can check it."""

import json
from collections.abc import Iterator, Mapping, Sequence
from textwrap import fill, indent
from typing import Any, Final
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

import msgspec

from idcsched.framework.answer import Candidate, Score
from idcsched.framework.billing import monthly_price
from idcsched.scheduling.deciding import Scheduled
from idcsched.scheduling.in_words import amount, percent, raw_text
from idcsched.scheduling.table import aligned, render
from idcsched.scheduling.verdict import question
from idcsched.scheduling.why import Said, Why

__all__ = ["ORDER", "show"]

WIDTH: Final = 100
SECONDS: Final = 30
BILL, ROOM = "billing_cost", "network_flow"

ORDER: Final[Mapping[str, Any]] = {
    "request_id": "first-order",
    "region": "huanan",
    "isp": "ct",
    "machines": [{"count": 3, "bandwidth_mbps": 300}],
    "labels": {"business": "live-streaming"},
    "client": {"region": "440000"},
    "explain": "full",
}
TITLE: Final = (
    "The first recommendation: 3 machines of 300 Mbps each on China Telecom (ct), somewhere in\n"
    "South China (huanan), for live streaming to viewers in Guangdong, who watch in the evening."
)
LEGEND: Final = (
    "Price: CNY per Mbps and month, by the line's contract. Counts as: CNY a month, what the order adds to the "
    "bill with the commit and the room that it takes up. "
    "What follows a + are points; they add up to the score."
)
HEADINGS: Final[Mapping[str, str]] = {
    BILL: "counts as",
    ROOM: "room left",
    "resource": "load",
    "affinity": "wishes",
    "locality": "distance",
    "taint": "soft taints",
}


def show(base_url: str, credentials: Mapping[str, Mapping[str, str]]) -> str:
    """Order through the API of the running server; return the answer, or the error, as a text."""
    token = credentials["portal"]["token"]
    try:
        body = _fetched(f"{base_url}/api/v1/schedule/", token, ORDER)
        scheduled = msgspec.json.decode(body, type=Scheduled)
        candidates = scheduled.candidates or ()
        prices = {candidate.idc: _list_price(base_url, token, candidate) for candidate in candidates}
        asked = _asked(scheduled, prices)
        reasons = {idc: _why(base_url, token, scheduled.decision_id, idc) for idc in asked}
    except HTTPError as error:
        return f"The first recommendation was refused with {error.code}: {error.read().decode(errors='replace')}"
    except (URLError, TimeoutError, msgspec.DecodeError) as error:
        return f"The first recommendation could not be had: {error}"
    page = f"The same as a page: {base_url}/console/decisions/{scheduled.decision_id}/"
    return "\n\n".join([TITLE, *_story(scheduled, prices, asked, reasons), page, _curl(base_url, token)])


def _fetched(url: str, token: str, document: Mapping[str, Any] | None = None) -> bytes:
    request = Request(  # noqa: S310 - always our own server, by http
        url,
        data=None if document is None else json.dumps(document).encode(),
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/json"},
        method="GET" if document is None else "POST",
    )
    with urlopen(request, timeout=SECONDS) as response:  # noqa: S310 - as above
        return bytes(response.read())


def _list_price(base_url: str, token: str, candidate: Candidate) -> float | None:
    """Return the price of a Mbps per month by the line's contract, whenever the bandwidth is used."""
    lines = {
        line["code"]: line for line in json.loads(_fetched(f"{base_url}/api/v1/idcs/{candidate.idc}/", token))["lines"]
    }
    line = lines[candidate.lines[0].line]
    return monthly_price(line["charge_type"], line["price_per_mbps"], line["price_per_gb"])


def _why(base_url: str, token: str, decision: str, idc: str) -> Why:
    """Return why the order went where it did, and why not to that IDC."""
    body = _fetched(f"{base_url}/api/v1/decisions/{decision}/why/?not={idc}", token)
    return msgspec.json.decode(body, type=Why)


def _story(
    scheduled: Scheduled,
    prices: Mapping[str, float | None],
    asked: Mapping[str, str],
    reasons: Mapping[str, Why],
) -> Iterator[str]:
    candidates = scheduled.candidates or ()
    if scheduled.idc is None or not asked or not candidates[0].scores.keys() >= {BILL, ROOM}:
        yield render(scheduled)  # an operator has changed the demo, and the texts below do not fit
        return
    winner = candidates[0]
    yield f"  {winner.idc} · {scheduled.idc.name}"
    yield _paragraph(_text(next(iter(reasons.values())).sentences))
    if scheduled.shape_note:
        yield _paragraph(f"{scheduled.shape_note[0].upper()}{scheduled.shape_note[1:]}.")
    yield "\n".join(_ranking(candidates, prices))
    for idc, advantage in asked.items():
        why_not = reasons[idc].why_not
        yield _paragraph(f"{question(idc, advantage=advantage)} {_text(why_not.sentences if why_not else ())}")
    yield "\n".join(_rejections(scheduled))


def _text(sentences: Sequence[Said]) -> str:
    return " ".join(sentence.text for sentence in sentences)


def _paragraph(text: str) -> str:
    return indent(fill(text, WIDTH - 2, break_on_hyphens=False), "  ")


def _monthly(candidate: Candidate) -> float:
    return (candidate.scores[BILL].raw or 0.0) * sum(use.bandwidth_mbps for use in candidate.lines)


def _ranking(candidates: Sequence[Candidate], prices: Mapping[str, float | None]) -> Iterator[str]:
    """Yield the ranking as a table: list prices, raw values and points; scores equal for all stand below the table."""
    names = [name for name in HEADINGS if name in candidates[0].scores]
    same = [name for name in names if len({candidate.scores[name].contribution for candidate in candidates}) == 1]
    shown = [name for name in names if name not in same]
    head = ["", "IDC", "price", *(HEADINGS[name] for name in shown), "score"]
    rows = [
        [
            *(str(candidate.rank), candidate.idc, amount(prices[candidate.idc])),
            *(f"{_raw_text(name, candidate)} +{candidate.scores[name].contribution:,.0f}" for name in shown),
            f"{candidate.score:,.0f}",
        ]
        for candidate in candidates
    ]
    yield from (f"  {line}" for line in aligned([head, *rows], right=range(2, len(head))))
    equal = ", ".join(f"{HEADINGS[name]} +{amount(candidates[0].scores[name].contribution)}" for name in same)
    yield _paragraph(LEGEND + (f" The same for all: {equal}." if equal else ""))


def _raw_text(name: str, candidate: Candidate) -> str:
    """Return a candidate's raw value as a text with its unit."""
    score: Score = candidate.scores[name]
    if score.raw is None:
        return "unknown"
    match name:
        case "billing_cost":
            return f"{_monthly(candidate):,.0f}"
        case "network_flow" | "resource" | "locality":
            return raw_text(name, score)
        case _:
            return f"{score.raw:+g}"


def _asked(scheduled: Scheduled, prices: Mapping[str, float | None]) -> dict[str, str]:
    """Return of which IDCs a reader wonders why they lost: that of the lowest list price, that with the most room, and
    the next best; each with what would let one expect that it had been chosen."""
    winner, *others = scheduled.candidates or (None,)
    asked: dict[str, str] = {}
    if winner is None or not others:
        return asked
    cheapest = min(others, key=lambda each: _price_or_infinity(prices[each.idc]))
    if _price_or_infinity(prices[cheapest.idc]) < _price_or_infinity(prices[winner.idc]):
        against = f"{amount(prices[cheapest.idc])} against {amount(prices[winner.idc])} CNY per Mbps"
        asked[cheapest.idc] = f"the lower list price ({against})"
    roomiest = max(others, key=_room)
    if _room(roomiest) > _room(winner):
        asked.setdefault(
            roomiest.idc, f"the most room ({percent(_room(roomiest))} left against {percent(_room(winner))})"
        )
    asked.setdefault(others[0].idc, "")
    return asked


def _price_or_infinity(price: float | None) -> float:
    return float("inf") if price is None else price


def _room(candidate: Candidate) -> float:
    return (candidate.scores[ROOM].raw or 0.0) if ROOM in candidate.scores else 0.0


def _rejections(scheduled: Scheduled) -> Iterator[str]:
    yield _paragraph(scheduled.summary)
    rows = [[f"  {rejection.idc}", rejection.reason] for rejection in scheduled.rejected or ()]
    yield from (f"  {line}" for line in (aligned(rows) if rows else ()))


def _curl(base_url: str, token: str) -> str:
    """Return the order as a curl command to copy."""
    fields = [f"{json.dumps(name)}: {json.dumps(value, ensure_ascii=False)}" for name, value in ORDER.items()]
    body = fill(f"{{{', '.join(fields)}}}", WIDTH - 6, break_on_hyphens=False, break_long_words=False)
    return (
        f"Ask the same yourself:\n\n  curl -s {base_url}/api/v1/schedule/ \\\n"
        f"    -H 'Authorization: Bearer {token}' \\\n    -H 'Content-Type: application/json' \\\n"
        f"    -d '{indent(body, '      ').strip()}'\n"
    )
