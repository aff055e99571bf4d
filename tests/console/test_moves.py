"""The moves that would save money, in the console: the list, what is chosen of it, the file, and every empty state."""

import csv
from collections.abc import Callable
from datetime import timedelta
from html import unescape
from io import BytesIO, StringIO
from typing import Any
from uuid import UUID, uuid4
from zoneinfo import ZoneInfo

import msgspec
import pytest
from django.conf import settings
from django.utils import timezone
from openpyxl import load_workbook

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_create
from idcsched.audit.models import Change
from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.placement.models import Placement
from idcsched.placement.transitions import placement_confirm
from idcsched.planning.advice import Advice, CommitAdvice, FullLine, MadeMove, Move, Place
from idcsched.planning.models import AdviceRun, MoveAnswer, StoredAdvice
from idcsched.planning.moves import LineChange
from tests.console.conftest import Browser
from tests.console.pricing import lines_priced
from tests.placement.conftest import fleet, order  # noqa: F401 - fixtures

PAGE, FILE = "/console/moves/", "/console/moves/file/"
Order = Callable[..., Placement]


def text(answer: Any) -> str:
    return " ".join(unescape(answer.content.decode()).split())


def line(idc: str, carries: tuple[float, float], bill: tuple[float, float]) -> LineChange:
    return LineChange(
        idc=idc,
        line="ct",
        purchased_mbps=2000.0,
        carries_before_mbps=carries[0],
        carries_after_mbps=carries[1],
        bill_before=bill[0],
        bill_after=bill[1],
    )


def move(saves: float, placement: UUID | None = None, **fields: Any) -> Move:
    given = {
        "request_id": f"order-{saves:g}",
        "tenant": "live-cn",
        "business": "",
        "origin": Place(idc="a", lines=("ct",)),
        "target": Place(idc="b", lines=("ct",)),
        "machines": 3,
        "bandwidth_mbps": 300.0,
        "lines": (line("a", (700, 400), (21_000, 12_000)), line("b", (400, 700), (4000, 7000))),
    }
    return Move(placement=placement or uuid4(), saves=saves, **{**given, **fields})


def stored(*moves: Move, **fields: Any) -> None:
    given: dict[str, Any] = {"computed_at": timezone.now(), "status": "optimal", "placements": 40, "left_out": 2}
    found = Advice(**{**given, "currency": "CNY", "saves": sum(each.saves for each in moves), "moves": moves, **fields})
    StoredAdvice.objects.create(computed_at=found.computed_at, document=msgspec.Raw(msgspec.json.encode(found)))


def numbers(answer: Any) -> list[float]:
    return [row.move.saves for row in answer.context["rows"]]


def test_it_works(browser: Browser, order: Order) -> None:  # noqa: F811
    """The page says in a sentence what the moves save, lists them with running sums, and shows the bills of their
    lines.
    """
    placement = order(request_id="order-1")
    stored(
        move(9000, placement.pk, request_id="order-1", origin=Place(idc=placement.idc.code, lines=("ct",))),
        move(3000),
        move(1500),
        move(1500),
    )
    page = text(browser("operator").get(PAGE))
    assert "4 moves would save 15,000 CNY a month. The first one brings half of it." in page
    assert "To be expected" not in page, "advice from before this was stored"
    assert "on 40 placements, 2 of them could not be judged" in page
    assert "searched to the end: by its formula no other moves save more" in page
    assert f'href="/console/placements/{placement.pk}/">order-1</a>' in page
    assert page.count("stands there no more") == 3, "of those that are no placements"
    assert page.index("9,000") < page.index("12,000") < page.index("13,500") < page.index("15,000</td>")
    assert "700 → 400" in page
    assert "-9,000" in page
    assert "+3,000" in page
    assert "35 %" in page
    assert "Work it out anew" in page


@pytest.mark.parametrize(
    ("saves", "said"),
    [
        ([500], "1 move would save 500 CNY a month."),
        ([10, 10], "2 moves would save 20 CNY a month. The first one brings half of it."),
        ([10, 10, 10], "3 moves would save 30 CNY a month."),
        ([90, 5, 5], "3 moves would save 100 CNY a month. The first one brings nine tenths of it."),
        ([30, 20, 20, 10, 10, 10], "6 moves would save 100 CNY a month. The first 2 bring half of it."),
        ([34, 33, 10, 10, 13], "5 moves would save 100 CNY a month. The first 2 bring two thirds of it."),
    ],
)
def test_how_few_bring_most(browser: Browser, saves: list[float], said: str) -> None:
    stored(*(move(amount) for amount in saves))
    assert said in text(browser("viewer").get(PAGE))


@pytest.mark.parametrize(
    ("learnt_from", "said"),
    [
        (0, "To be expected of that: 600 CNY, or 75 %, until moves that were made say more."),
        (1, "To be expected of that: 600 CNY, or 75 %, after 1 move that was made."),
        (12, "To be expected of that: 600 CNY, or 75 %, after 12 moves that were made."),
        (None, "To be expected of that: 600 CNY, or 75 %."),
    ],
)
def test_what_is_to_be_expected(browser: Browser, learnt_from: int | None, said: str) -> None:
    stored(move(500, expected=375.0), move(300, expected=225.0), expected_factor=0.75, moves_learnt_from=learnt_from)
    page = text(browser("viewer").get(PAGE))
    assert said in page
    assert '<span class="quiet">375 of it to be expected</span>' in page


def test_what_moves_have_kept(browser: Browser) -> None:
    places = {"origin": Place(idc="a", lines=("ct",)), "target": Place(idc="b", lines=("ct",))}
    moves = [
        MadeMove(
            placement=uuid4(),
            request_id=f"made-{promised:g}",
            tenant=tenant,
            promised=promised,
            saves=saves,
            confirmed_at=timezone.now(),
            **places,
        )
        for promised, saves, tenant in ((3000.0, 2500.0, "live-cn"), (1000.0, -400.0, "other"))
    ]
    stored(made=tuple(moves))
    page = text(browser("viewer").get(PAGE))
    assert "2 moves promised 4,000 CNY a month; by now they save 2,100." in page
    assert page.index("made-3000") < page.index("2,500</td>") < page.index("made-1000") < page.index("-400</td>")
    tenant_create(code="live-cn")
    own = text(browser("operator", tenant=Tenant.objects.get(code="live-cn")).get(PAGE))
    assert "1 move promised 3,000 CNY a month; by now it saves 2,500." in own
    assert "made-1000" not in own


@pytest.mark.parametrize(
    ("weeks", "said", "marked"),
    [
        ((3, 4), "would have saved in 3 of the last 4 weeks", False),
        ((1, 4), "would have saved in 1 of the last 4 weeks", True),
        ((0, 2), "would have saved in 0 of the 2 weeks that are known", True),
        ((0, 1), "would have saved in 0 of the 1 week that is known", False),
        ((0, 0), "", False),
        ((None, None), "", False),
    ],
)
def test_in_how_many_weeks_it_would_have_saved(
    browser: Browser,
    order: Order,  # noqa: F811
    weeks: tuple[Any, Any],
    said: str,
    marked: bool,
) -> None:
    """A move that would have saved in none or one of the weeks is marked, and its button does not stand out."""
    placement = order(request_id="order-1")
    here = Place(idc=placement.idc.code, lines=("ct",))
    stored(move(300, placement.pk, origin=here, weeks_saved=weeks[0], weeks_known=weeks[1]))
    page = text(browser("operator").get(PAGE))
    assert (f'<span class="{"mark warn" if marked else "quiet"}">{said}</span>' in page) == bool(said)
    assert ("would have saved in" in page) == bool(said)
    assert ('<button class="main" name="state" value="reserve">' in page) != marked
    assert 'name="state" value="reserve">' in page


CHOSEN: dict[str, list[float]] = {
    "": [400, 300, 200, 100],
    "limit=2": [400, 300],
    "floor=150": [400, 300, 200],
    "floor=1e3": [],
    "region=other": [300],
    "tenant=other": [200],
    "floor=150&limit=1&tenant=other": [200],
    "isp=cu": [300],
    "isp=unicom": [300],
    "days=7": [100],
    "mbps=750": [400, 300],
    "limit=0": [400, 300, 200, 100],
    "limit=x&floor=-1&region=nowhere&tenant=nobody&isp=none&days=x&mbps=-1": [400, 300, 200, 100],
    "floor=nan": [400, 300, 200, 100],
    "limit=" + "9" * 5000: [400, 300, 200, 100],
}


def test_the_address_chooses(browser: Browser, order: Order) -> None:  # noqa: F811
    region_create(code="other")
    isp_create(code="cu", aliases=["unicom"])
    idc_create(code="far", region="other", lines=[{"isp": isp, "purchased_mbps": 1} for isp in ("ct", "cu")])
    tenant_create(code="other")
    week_ago = timezone.now() - timedelta(days=7)
    stored(
        move(400, ordered_at=timezone.now()),
        move(300, origin=Place(idc="far", lines=("cu",))),
        move(200, tenant="other"),
        move(100, ordered_at=week_ago),
    )
    client = browser("operator")
    assert {query: numbers(client.get(f"{PAGE}?{query}")) for query in CHOSEN} == CHOSEN
    page = text(client.get(f"{PAGE}?limit=2&isp=unicom"))
    assert "<option selected>cu</option>" in page
    assert "<option>unicom" not in page
    page = text(client.get(f"{PAGE}?limit=2"))
    assert "2 of 4 are shown; together they save 700 CNY a month." in page
    assert "2 more save less." in page
    assert "No move is like this." in text(client.get(f"{PAGE}?floor=1e3"))
    page = text(client.get(f"{PAGE}?limit=x&floor=-1&region=nowhere&tenant=nobody&isp=none&days=x&mbps=-1"))
    for said in (
        *("from 1 to 500", "What a move must save must be a number", "no region nowhere", "no tenant nobody"),
        *("no ISP none", "from 0 to 3650 days", "The Mbps that are moved must be a number"),
    ):
        assert said in page


def test_the_file(browser: Browser, order: Order) -> None:  # noqa: F811
    """The file has the moves that the address chooses, and quotes a text that a spreadsheet would run as a formula."""
    first_move = move(
        400, request_id='=HYPERLINK("https://x.example")', business="直播", expected=340.0, weeks_saved=3, weeks_known=4
    )
    stored(first_move, move(300), move(200))
    answer = browser("operator").get(f"{FILE}?floor=250")
    assert answer["Content-Type"] == "text/csv; charset=utf-8"
    assert answer["Content-Disposition"].startswith('attachment; filename="moves-2')
    head, first, second = csv.reader(StringIO(answer.content.decode("utf-8-sig")))
    row = dict(zip(head, first, strict=True))
    assert row["order"] == '\'=HYPERLINK("https://x.example")'
    assert (row["business"], row["from IDC"], row["to lines"], row["Mbps"]) == ("直播", "a", "ct", "300.0")
    assert (row["saves a month, CNY"], row["with those above, CNY"]) == ("400.0", "400.0")
    assert (row["expected a month, CNY"], row["of so many weeks"]) == ("340.0", "4")
    assert (row["weeks in which it would have saved"], second[-4:]) == ("3", ["", "700.0", "", ""])


def test_the_file_for_excel(browser: Browser, order: Order) -> None:  # noqa: F811
    """Amounts are numbers, and texts are no formulas."""
    stored(move(400, request_id="=1+1", expected=340.5))
    client = browser("operator")
    answer = client.get(f"{FILE}?format=xlsx")
    assert answer["Content-Disposition"].endswith('.xlsx"')
    head, row = load_workbook(BytesIO(answer.content)).active.values
    found = dict(zip(head, row, strict=True))
    assert (found["order"], found["saves a month, CNY"], found["expected a month, CNY"]) == ("'=1+1", 400, 340.5)
    assert found["of so many weeks"] is None
    assert client.get(f"{FILE}?format=ods").status_code == 400


def test_those_of_a_tenant_see_their_own_moves_alone(browser: Browser, order: Order) -> None:  # noqa: F811
    stored(
        move(400, tenant="other"),
        move(300),
        saves_at_most=900.0,
        commits=(CommitAdvice(idc="b", line="ct", commit_mbps=900, expected_mbps=400, saves=15_000),),
    )
    own = browser("operator", tenant=Tenant.objects.get(code="live-cn"))
    page = text(own.get(f"{PAGE}?tenant=other"))
    assert "1 move would save 300 CNY a month." in page
    for hidden in ("order-400", "15,000", "Commits", "on 40 placements", "Work it out", "other</option>"):
        assert hidden not in page
    assert "order-400" not in own.get(FILE).content.decode()
    assert own.post(PAGE).status_code == 403
    assert not AdviceRun.objects.exists()


def test_a_viewer_looks_and_asks_for_nothing(browser: Browser) -> None:
    client = browser("viewer")
    assert "Work it out" not in text(client.get(PAGE))
    assert client.post(PAGE).status_code == 403


def test_it_is_worked_out_anew(browser: Browser) -> None:
    client = browser("operator")
    before = text(client.get(PAGE))
    assert "Nothing has been worked out yet." in before
    assert "That happens each night at five, or now with the button above." in before
    after = text(client.post(PAGE, follow=True))
    assert "New advice waits for a worker" in after
    assert "Work it out" not in after, "it is on its way already"
    assert 'hx-trigger="every 3s"' in after
    AdviceRun.objects.update(asked_at=timezone.now() - timedelta(minutes=2))
    assert "none has taken it up" in text(client.get(PAGE))
    AdviceRun.objects.update(state="running", started_at=timezone.now())
    assert "is being worked out since" in text(client.get(PAGE, headers={"HX-Request": "true"}))
    AdviceRun.objects.update(state="done")
    assert client.get(PAGE, headers={"HX-Request": "true"})["HX-Refresh"] == "true"


def test_why_it_failed_is_said(browser: Browser) -> None:
    AdviceRun.objects.create(state="failed", failure="ValueError: no such matrix")
    stored(move(300))
    page = text(browser("operator").get(PAGE))
    assert "failed. ValueError: no such matrix. What is shown is the advice before it. Try again" in page
    tenant = browser("viewer", tenant=tenant_create(code="other"))
    assert "matrix" not in text(tenant.get(PAGE))


@pytest.mark.parametrize(
    ("status", "said"),
    [
        ("optimal", "No move would save money: every order stands where it is cheapest."),
        ("nothing_found", "Time ran out before a move was found"),
        ("nothing_to_move", "There is nothing to move."),
    ],
)
def test_an_empty_list_says_why(browser: Browser, status: str, said: str) -> None:
    stored(status=status)
    assert said in text(browser("operator").get(PAGE))


def test_commits_and_lines_that_fill_up(browser: Browser) -> None:
    stored(
        commits=(CommitAdvice(idc="b", line="ct", commit_mbps=900, expected_mbps=400, saves=None),),
        full_soon=(FullLine(idc="a", line="cu", days=0.0, mbps_needed=612.5),),
    )
    page = text(browser("viewer").get(PAGE))
    for said in ("price not known", "full already", "612"):
        assert said in page
    stored()
    page = text(browser("viewer").get(PAGE))
    assert "No commit is above what flows." in page
    assert "No line fills up within 30 days." in page


def test_advice_from_before_the_bills_were_stored_is_shown(browser: Browser) -> None:
    document = {"computed_at": "2026-05-01T21:00:00Z", "currency": "CNY", "status": "optimal", "saves": 5.0}
    old = msgspec.to_builtins(move(5.0))
    del old["lines"], old["ordered_at"]
    StoredAdvice.objects.create(computed_at=timezone.now(), document={**document, "moves": [old]})
    assert "This advice does not have them yet" in text(browser("viewer").get(PAGE))


def test_the_overview_leads_there(browser: Browser) -> None:
    stored(move(300))
    client = browser("viewer")
    assert "1 move would save 300 CNY a month." in text(client.get("/console/"))
    assert f'href="{PAGE}"' in text(client.get("/console/overview/bills/"))


def test_it_takes_a_bounded_number_of_queries(
    browser: Browser, django_assert_max_num_queries: Callable[..., Any]
) -> None:
    stored(*(move(amount) for amount in range(200, 0, -1)))
    client = browser("operator")
    client.get(PAGE)
    with django_assert_max_num_queries(12):
        client.get(f"{PAGE}?limit=200")


def press(client: Any, placement: UUID, state: str, **fields: str) -> Any:
    return client.post(PAGE, {"placement": str(placement), "state": state, **fields}, follow=True)


def test_what_people_did_is_noted_and_taken_back(browser: Browser, order: Order) -> None:  # noqa: F811
    """Done and declined stand apart, with what was promised; what is taken back stands in the list again."""
    placement = order(request_id="order-1")
    here = Place(idc=placement.idc.code, lines=("ct",))
    first, second = move(400, placement.pk, origin=here), move(300, request_id="order-2")
    stored(first, second)
    client = browser("operator")
    page = text(press(client, first.placement, "done"))
    assert "Noted as done." in page
    assert "1 move would save 300 CNY a month." in page
    assert "1 move was done; it promised 400 CNY a month." in page
    assert "still stands there" in page
    refused = press(client, second.placement, "declined", message=" ")
    assert refused.status_code == 409
    assert "say why" in text(refused)
    page = text(press(client, second.placement, "declined", message="its disks stay"))
    assert "No other move would save money." in page
    assert "its disks stay" in page
    Placement.objects.update(state="released")
    assert "has left" in text(client.get(PAGE))
    assert set(MoveAnswer.objects.values_list("state", "actor")) == {("done", "operator"), ("declined", "operator")}
    assert Change.objects.filter(kind="move_answer", via="console").count() == 2
    for each in (first, second):
        page = text(press(client, each.placement, "open"))
    assert "2 moves would save 700 CNY a month." in page


def test_a_viewer_notes_nothing(browser: Browser, order: Order) -> None:  # noqa: F811
    proposed = move(400)
    stored(proposed)
    client = browser("viewer")
    assert "Not this one" not in text(client.get(PAGE))
    assert press(client, proposed.placement, "done").status_code == 409
    assert not MoveAnswer.objects.exists()


def test_what_makes_no_sense_is_refused(browser: Browser, order: Order) -> None:  # noqa: F811
    proposed = move(400)
    stored(proposed)
    client = browser("operator")
    assert press(client, proposed.placement, "maybe").status_code == 400
    assert client.post(PAGE, {"placement": "x", "state": "done"}).status_code == 400
    assert press(client, uuid4(), "done").status_code == 409


@pytest.fixture
def dear(order: Order) -> Placement:  # noqa: F811
    """An order that runs in `a` for 30 a Mbps, and would cost 10 in `b`."""
    lines_priced({"a": 30, "b": 10, "c": 40})
    placement = placement_confirm(placement=order(request_id="order-1"))
    stored(move(6000, placement.pk, request_id="order-1"))
    return placement


def test_a_move_s_new_place_is_reserved_from_the_list(browser: Browser, dear: Placement) -> None:
    client = browser("operator")
    assert "Reserve the place in b" in text(client.get(PAGE))
    page = text(press(client, dear.pk, "reserve"))
    new = Placement.objects.get(replaces=dear.pk)
    assert new.events.get().detail["promised"] == 6000.0
    assert (new.state, new.idc and new.idc.code, new.ttl_seconds) == ("reserved", "b", 86_400)
    assert f"b is held until {timezone.localtime(new.expires_at, ZoneInfo(settings.BILLING_ZONE)):%m-%d %H:%M}" in page
    assert f'<a class="mark good" href="/console/placements/{new.pk}/">is being moved</a>' in page
    assert "Reserve the place in b" not in page
    old = text(client.get(f"/console/placements/{dear.pk}/"))
    assert f'is being moved to</dt><dd><a href="/console/placements/{new.pk}/">b</a>' in old
    assert "which is released when this is confirmed" in text(client.get(f"/console/placements/{new.pk}/"))
    placement_confirm(placement=new)
    page = text(client.get(PAGE))
    assert "stands there no more" in page
    assert "Reserve the place in b" not in page


def test_a_move_that_saves_nothing_any_more_is_refused(browser: Browser, dear: Placement) -> None:
    lines_priced({"b": 30})
    answer = press(browser("operator"), dear.pk, "reserve")
    assert answer.status_code == 409
    assert "it would save 0.00 a month, not 1.00" in text(answer)
    assert press(browser("operator"), uuid4(), "reserve").status_code == 409
    assert press(browser("viewer"), dear.pk, "reserve").status_code == 409
    assert not Placement.objects.filter(replaces__isnull=False).exists()
