"""A reader copies the samples of README.md and docs/ into a terminal, and each does what the page says."""

import csv
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from datetime import UTC, datetime, timedelta
from pathlib import Path
from time import monotonic
from typing import Any

import pytest
from prometheus_client import CollectorRegistry, Gauge

from idcsched.placement.signing import secret_bytes, signed_headers
from tests.architecture.repository import ROOT
from tests.docs.pages import blocks, section, tables
from tests.outbound.peers import Exchange, peer, raw_reply
from tests.servers import Unavailable, prometheus
from tests.stories.fleet import chosen_by, new_fleet, new_provider
from tests.stories.product import SOON, Caller, Product, in_state, name, until
from tests.stories.reading import AS_ON_THE_PAGE, Reader, Sample, differs, posted, program, samples

TENANT, USER = "live-cn", "live-portal"
PAGES = {
    str(file.relative_to(ROOT)): file.read_text(encoding="utf-8")
    for file in [
        ROOT / "README.md",
        ROOT / "clients/python/README.md",
        *sorted((ROOT / "docs").glob("*.md")),
        *sorted((ROOT / "docs" / "zh").glob("*.md")),
    ]
}
COLLECTOR = "part of a package to install; tests/docs/test_collectors.py runs it"
PLUGIN = "part of a package to install; tests/docs/test_writing_plugins.py and tests/third_party run it"
DRIVER = "part of a package to install; tests/docs/test_provisioning_page.py runs it"
MAKE_RUN = "tests/e2e/test_make_run.py runs it; the fixture `product` starts the same"
CYCLE = "from idcsched.framework.context import Cycle, IdcView\n"
NOT_RUN = {
    ("docs/backtests.md", "$ .venv/bin/python manage.py demo_backtest"): "tests/docs/test_backtest_figures.py runs it",
    ("clients/python/README.md", "pip install"): "tests/api/test_generated_client.py installs it",
    ("README.md", "make run "): MAKE_RUN,
    ("docs/quickstart.md", "make run\n"): MAKE_RUN,
    ("docs/zh/quickstart.md", "make run\n"): MAKE_RUN,
    ("docs/collectors.md", '"""`librenms`'): COLLECTOR,
    ("docs/collectors.md", "from idcsched_librenms"): COLLECTOR,
    ("docs/plugins.md", '"""`carbon`'): PLUGIN,
    ("docs/plugins.md", "from idcsched_carbon"): PLUGIN,
    ("docs/plugins.md", ".venv/bin/pip"): "installs into the environment of all tests; tests/third_party has its own",
    ("docs/plugins.md", "from typing import Annotated"): "tests/docs/test_writing_plugins.py runs it",
    ("docs/plugins.md", "import pytest\nfrom idcsched_clean"): "tests/docs/test_writing_plugins.py runs it",
    ("docs/plugins.md", f"{CYCLE}from idcsched.framework.normalize"): PLUGIN,
    ("docs/plugins.md", f"{CYCLE}from idcsched.framework.messages"): PLUGIN,
    ("docs/provisioning.md", "from collections.abc"): DRIVER,
    ("docs/provisioning.md", "check_driver("): DRIVER,
}
"""Samples that are not run, by page and beginning, and why."""

Story = Callable[[Reader], None]
STORIES: dict[str, Story] = {}


def story_of(title: str) -> Callable[[Story], Story]:
    """The function runs all samples of that page, in their order."""

    def noted(story: Story) -> Story:
        STORIES[title] = story
        return story

    return noted


def to_run(title: str) -> list[Sample]:
    """The samples of a page, without those that are listed as not run."""
    left_out = [beginning for page_title, beginning in NOT_RUN if page_title == title]
    return [each for each in samples(PAGES[title]) if not each.text.startswith(tuple(left_out))]


@pytest.fixture(scope="session")
def token(product: Product) -> str:
    """The token of the portal in the pages. It is made once, since the pages need not run one after the other."""
    admin = product.caller("admin")
    hosts = ["portal.example", "portal.example.com", "127.0.0.1"]
    admin.post("/tenants/", {"code": TENANT, "callback_hosts": hosts}, status=201)
    admin.post("/users/", {"username": USER, "role": "portal", "tenant": TENANT}, status=201)
    return str(product.new_token(USER)["token"])


@pytest.fixture
def reader(product: Product, token: str, tmp_path: Path) -> Iterator[Reader]:
    """A reader without a page yet; what its portal has ordered is released in the end."""
    yield Reader(product, tmp_path, [], {"API": f"{product.address}/api/v1", "TOKEN": token})
    caller = product.caller().as_(token)
    for placement in caller.get("/placements/?state=reserved&state=provisioning&state=active")["results"]:
        caller.post(f"/placements/{placement['id']}/release/", status=200)


@pytest.mark.parametrize("title", [title for title in PAGES if to_run(title)])
def test_the_samples_do_what_the_page_says(title: str, reader: Reader) -> None:
    assert title in STORIES, "nobody runs the samples of this page"
    reader.left = to_run(title)
    STORIES[title](reader)
    assert not reader.left


def test_no_sample_is_listed_in_vain() -> None:
    for title, beginning in NOT_RUN:
        assert len([each for each in samples(PAGES[title]) if each.text.startswith(beginning)]) == 1, beginning


def portal(reader: Reader) -> Caller:
    """A connection with the token of the pages' portal."""
    return reader.product.caller().as_(reader.known["TOKEN"])


@story_of("README.md")
def first_order(reader: Reader) -> None:
    said = reader.manage(reader.next("sh").text)
    assert "5/11 IDCs fit: 2 no line of the ISP, 1 draining, 1 not enough bandwidth" in said


@story_of("clients/python/README.md")
def ordered_from_python(reader: Reader) -> None:
    source = reader.next("python")
    file = reader.folder / "order.py"
    file.write_text(source.text.replace(AS_ON_THE_PAGE, reader.product.address), encoding="utf-8")
    client = {"PYTHONPATH": str(ROOT / "clients/python"), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, file], env=os.environ | reader.known | client, capture_output=True, text=True, check=False
    )
    assert done.stdout == source.following, done.stderr


@story_of("docs/api.md")
def from_the_first_call_to_a_placement(reader: Reader) -> None:
    assert reader.curl(**{"idc_…": reader.known["TOKEN"]}) == []  # it sets the variables that the reader has
    while reader.left:
        if reader.left[0].language == "python":
            assert reader.python() == "reserved in d\n"
            continue
        answer = reader.curl_as_shown()
        if answer.get("commit_token"):
            reader.known["COMMIT_TOKEN"] = answer["commit_token"]
        if answer.get("state") == "reserved":
            reader.known["PLACEMENT"] = answer["id"]


@story_of("docs/advice.md")
def what_would_be_cheaper(reader: Reader) -> None:
    said = reader.manage(reader.next("console").text.removeprefix("$ "))
    assert "placements hold bandwidth" in said
    found = reader.product.caller("operator").get("/advice/")
    assert {
        field for row in tables(PAGES["docs/advice.md"])[0] for field in re.findall(r"`(\w+)`", row["field"])
    } <= set(found)


@story_of("docs/backtests.md")
def what_others_would_have_cost(reader: Reader) -> None:
    """The orders that are tested are those of the demo: the product's own are of today, which is not over."""
    draft = reader.folder / "my-draft.json"
    draft.write_text('{"plugins": [{"name": "bill", "plugin": "billing_cost", "weight": 1}]}')
    command = reader.next("console").text.removeprefix("$ ")
    table = reader.manage(command, **{"my-draft.json": str(draft)})
    rows = {words[0] for line in table.splitlines() if (words := line.split())}
    assert {"done", "default", "cost-first", draft.name} <= rows

    operator = reader.product.caller("operator")
    sample = reader.next("http")
    head, _, body = sample.text.partition("\n")
    asked = operator.post(head.removeprefix("POST /api/v1"), json.loads(body), status=202)

    def over() -> bool:
        return bool(operator.get(f"/backtests/{asked['id']}/")["state"] == "done")

    until(over, "a worker has done the backtest", seconds=300)
    result = operator.get(f"/backtests/{asked['id']}/")["result"]
    (shown,) = blocks(section(PAGES["docs/backtests.md"], "On your own orders"), "json")
    expected = json.loads(shown)
    for course in (expected["done"], *expected["courses"]):
        assert course.keys() == result["done"].keys()
        course.update(dict.fromkeys(("by_charge_type", "by_isp", "by_region"), "…"))  # they depend on the day
    assert not list(differs({**expected, "decided_by": "…"}, result, values=False))
    assert result["done"]["added"] > next(each["added"] for each in result["courses"] if each["name"] == "default")

    fit = reader.next("console").text.removeprefix("$ ")
    quick = {"--save": "--budget 2"}  # a draft would stay behind for other tests
    assert "every other day" in reader.manage(fit, **quick)


@story_of("docs/callbacks.md")
def told_of_a_placement(reader: Reader) -> None:
    shown = json.loads(blocks(section(PAGES["docs/callbacks.md"], "What is sent"), "json")[0])
    (placed,) = reader.curl()
    caller = portal(reader)
    assert [each["state"] for each in caller.get(f"/deliveries/?placement={placed['id']}")["results"]] == ["pending"]

    reader.known["TOKEN"], own = reader.product.tokens["admin"], reader.known["TOKEN"]
    (made,) = reader.curl()
    reader.known["TOKEN"] = own
    with program(reader.next("python").text, reader.folder, SECRET=made["secret"]) as (url, printed):
        body = {"region": "A", "profile": "seed-example", "action": "reserve", "callback_url": url}
        placed = caller.post("/schedule/", {**body, "request_id": "order-8812"}, status=201)
        until(lambda: printed.read_text() == "order-8812 reserved\n", "the callback", seconds=60)
        (delivery,) = caller.get(f"/deliveries/?placement={placed['id']}")["results"]
        sent_again = caller.post(f"/deliveries/{delivery['id']}/resend/", status=200)
        until(lambda: delivered(caller, sent_again) >= 2, "the callback once more", seconds=60)
        assert printed.read_text() == "order-8812 reserved\n"
        the_receiver_refuses_what_is_not_genuine(url, secret_bytes(made["secret"]))
    data = delivery["payload"]["data"]
    assert (data["bill"], data.pop("bill_unknown")) == (None, "no_bandwidth"), "the page has the bill of another order"
    assert [*data] == [*shown["data"]]
    without_bill = {**shown, "data": {**shown["data"], "lines": [], "bill": None}}
    assert not list(differs(without_bill, delivery["payload"], values=False))


def delivered(caller: Caller, delivery: Mapping[str, Any]) -> int:
    """How often a callback was tried, once it has been received."""
    found = caller.get(f"/deliveries/{delivery['id']}/")
    return int(found["tries"]) if found["state"] == "delivered" else 0


def the_receiver_refuses_what_is_not_genuine(url: str, secret: bytes) -> None:
    now, body = datetime.now(UTC), b'{"data": {"request_id": "x", "state": "y"}}'
    genuine = signed_headers("m-1", now, body, [secret])
    old = signed_headers("m-2", now - timedelta(minutes=6), body, [secret])
    assert posted(url, genuine, body)[0] == 204
    assert posted(url, genuine, body + b" ")[0] == 401
    assert posted(url, genuine | {"webhook-id": "m-2"}, body)[0] == 401
    assert posted(url, signed_headers("m-2", now, body, [b"another"]), body)[0] == 401
    assert posted(url, old, body)[0] == 401


@story_of("docs/capacity.md")
def how_many_more_fit(reader: Reader) -> None:
    """Only names and types are compared, because the numbers depend on the hour."""
    shown = json.loads(reader.left[0].following)
    (answer,) = reader.curl()
    assert not list(differs(shown, answer, values=False))
    assert {each["idc"] for each in shown["idcs"]} <= {each["idc"] for each in answer["idcs"]}


@story_of("docs/extender.md")
def an_extender_of_ones_own(reader: Reader) -> None:
    text = PAGES["docs/extender.md"]
    own = {code: name("site") for code in ("gz-ct-01", "gz-ct-02", "sz-ct-01")} | {"gd": name("region"), "acme": TENANT}

    def of(heading: str) -> Any:
        (document,) = blocks(section(text, heading), "json")
        for code, mine in own.items():
            document = document.replace(f'"{code}"', f'"{mine}"')
        return json.loads(document)

    entry, sent, answered = of("In a profile"), of("What is sent"), of("What is answered")
    admin, caller = reader.product.caller("admin"), portal(reader)
    sites_made(admin, own["gd"], sent["candidates"])
    with program(reader.next("python").text, reader.folder) as (url, _), peer(relayed(url)) as recorder:
        entry["args"] |= {
            "url": recorder.url,
            "timeout_seconds": 10,
        }  # the page's 0.3 s are too little for a busy machine
        available = {"name": "available", "plugin": "available"}
        profile = admin.post("/profiles/", {"code": name("profile"), "plugins": [available, entry]}, status=201)
        asked = {name: value for name, value in sent["request"].items() if name != "labels"}
        asked |= {"labels": {"business": "live"}, "profile": profile["code"], "explain": "full"}
        until(lambda: caller.ask("POST", "/schedule/", asked).status == 200, "the new profile", seconds=60)
        until(lambda: caller.schedule(**asked)["score"] == 1200, "the extender's scores", seconds=60)
        decided = caller.schedule(**asked)
        assert recorder.calls[-1] == sent
        assert json.loads(posted(url, {}, recorder.bodies[-1])[1]) == answered
    totals = {each["idc"]: each["score"] for each in decided["candidates"]}
    assert totals == {idc: score * entry["weight"] for idc, score in answered["scores"].items()}
    reasons = {idc: f"{entry['name']} says: {reason}" for idc, reason in answered["rejected"].items()}
    assert {each["idc"]: each["reason"] for each in decided["rejected"]} == reasons


def sites_made(admin: Caller, region: str, candidates: list[Any]) -> None:
    """Create the IDCs that the page's extender is asked about, with the facts that it is told of them."""
    admin.post("/regions/", {"code": region}, status=201)
    admin.post("/metrics/", {"code": "power_load", "direction": "lower", "scope": "idc"}, status=201)
    for each in candidates:
        labels = {"building": each["label/building"]} if each["label/building"] else {}
        lines = [{"isp": "ct", "purchased_mbps": 1000}]
        body = {"code": each["code"], "region": region, "tier": each["idc/tier"], "labels": labels, "lines": lines}
        admin.post("/idcs/", body, status=201)
    loads = {each["code"]: each["metric/power_load"] for each in candidates if each["metric/power_load"]}
    values = [{"idc": idc, "metric": "power_load", "value": load} for idc, load in loads.items()]
    admin.post("/samples/", values, status=200)


def relayed(url: str) -> Callable[[Exchange], None]:
    """Return a behaviour that answers each request as the server at `url` does."""

    def behave(exchange: Exchange) -> None:
        status, answer = posted(url, {}, exchange.server.bodies[-1])
        raw_reply(answer, status)(exchange)

    return behave


def test_the_documents_about_groups_are_orders(reader: Reader) -> None:
    spread, batch, by_bill, plan = map(json.loads, blocks(PAGES["docs/groups.md"], "json"))
    caller = portal(reader)
    placed = caller.post("/schedule/", spread, status=201)
    group = caller.get(f"/placements/?group_id={placed['group_id']}")["results"]
    (machines,), limits = spread["machines"], spread["spread"]
    counts = [each["lines"][0]["bandwidth_mbps"] / machines["bandwidth_mbps"] for each in group]
    assert sum(counts) == machines["count"]
    assert max(counts) <= limits["max_per_idc"], "fewer where less fits, which depends on the hour"
    assert len({each["idc"] for each in group}) >= limits["min_idcs"]
    answer = caller.post("/schedule/batch/", batch, status=200)
    ordered, recommended = answer["results"]
    assert (answer["result"], ordered["state"], recommended["result"]) == ("all", "reserved", "scheduled")
    planned = caller.post("/schedule/batch/", by_bill, status=200)
    assert [order["state"] for order in planned["results"]] == ["reserved", "reserved"]
    assert planned["plan"].keys() == plan.keys()


@story_of("docs/importing.md")
def lists_are_taken_in(reader: Reader) -> None:
    admin, folder = reader.product.caller("admin"), reader.folder
    region, idc = name("region"), name("idc")
    document_is_imported(reader, admin, region, idc)

    exported, workbook_exported, tables_exported, dry_run, imported = reader.next("sh").text.splitlines()
    paths = {file: str(folder / file) for file in ("inventory.json", "inventory.xlsx", "tables/")}
    paths |= {file: str(folder / file) for file in ("idcs.csv", "lines.csv")}
    reader.manage(exported, **paths)
    assert idc in [each["code"] for each in json.loads((folder / "inventory.json").read_text())["idcs"]]
    reader.manage(workbook_exported, **paths)
    assert (folder / "inventory.xlsx").read_bytes().startswith(b"PK")
    reader.manage(tables_exported, **paths)
    only_rows_of(idc, folder, idcs="code", lines="idc")
    assert idc in reader.manage(dry_run, **paths)
    assert admin.get(f"/idcs/{idc}/")["name"] != "Renamed"
    reader.manage(imported, **paths)
    assert admin.get(f"/idcs/{idc}/")["name"] == "Renamed"
    assert "the May list" in [each["message"] for each in admin.get(f"/changes/?kind=idc&key={idc}")["results"]]

    regions = {17: "sout"}  # by the number of the row
    rows = "".join(f"{idc}-{number},{regions.get(number, region)},1\n" for number in range(2, 252))
    (folder / "idcs.csv").write_text(f"code,region,stock_cpu\n{rows}bad,{region},-1\n", encoding="utf-8")
    complained = reader.manage(f"manage.py import_inventory {folder / 'idcs.csv'}", fails=True)
    assert all(line in complained for line in blocks(PAGES["docs/importing.md"], "")[0].splitlines()), complained
    admin.get(f"/idcs/{idc}-2/", status=404)


def document_is_imported(reader: Reader, admin: Caller, region: str, idc: str) -> None:
    """Import the page's document with a region, an IDC and an ISP of the story's own."""
    (document,) = blocks(PAGES["docs/importing.md"], "json")
    for code, own in {"south": region, "gz-ct-01": idc, "ct": name("isp"), "telecom": name("alias")}.items():
        document = document.replace(f'"{code}"', f'"{own}"')
    file = reader.folder / "document.json"
    file.write_text(document, encoding="utf-8")
    reader.manage(f"manage.py import_inventory {file}")
    found = admin.get(f"/idcs/{idc}/")
    assert (found["region"], found["stock"]["cpu"], found["lines"][0]["purchased_mbps"]) == (region, 9600, 40_000)


def only_rows_of(idc: str, folder: Path, **columns: str) -> None:
    """Write the rows of one IDC out of the exported tables, with another name."""
    for table, column in columns.items():
        with (folder / "tables" / f"{table}.csv").open(encoding="utf-8-sig", newline="") as source:
            rows = [row for row in csv.DictReader(source) if row[column] == idc]
        with (folder / f"{table}.csv").open("w", encoding="utf-8", newline="") as target:
            written = csv.DictWriter(target, list(rows[0]))
            written.writeheader()
            written.writerows({**row, "name": "Renamed"} if "name" in row else row for row in rows)


@story_of("docs/placements.md")
def two_ways_to_a_placement(reader: Reader) -> None:
    recommended = portal(reader).schedule(region="440000", isp="ct", machines=[{"count": 1, "bandwidth_mbps": 10}])
    ordered, committed = reader.curl(**{"…": recommended["commit_token"]})
    assert (ordered["state"], ordered["request_id"]) == ("reserved", "order-8812")
    assert (committed["state"], committed["idc"]) == ("reserved", recommended["idc"]["code"])
    goal = next(found["idc"] for found in recommended["candidates"] if found["idc"] != committed["idc"])
    reader.known["ID"] = portal(reader).post(f"/placements/{committed['id']}/confirm/", {}, status=200)["id"]
    (moved,) = reader.curl(**{"sz-ct-01": goal, '"lines": ["ct"], "saves_at_least": 1000, ': ""})
    assert (moved["state"], moved["idc"], moved["replaces"]) == ("reserved", goal, committed["id"])


@story_of("docs/profiles.md")
def weights_are_changed_safely(reader: Reader) -> None:
    """The operator's tenant has a copy of the profile `default`, so that no other story is affected."""
    admin = reader.product.caller("admin")
    code, tenant = name("profile"), name("tenant")
    default = admin.get("/profiles/default/")
    copied = {field: default[field] for field in ("plugins", "line_choice")}
    admin.post("/profiles/", {"code": code, **copied}, status=201)
    admin.post("/tenants/", {"code": tenant, "default_profile": code}, status=201)
    operator = admin.as_(reader.product.new_token("operator", tenant=tenant)["token"])

    decision = ""

    def http(status: int = 200) -> Any:
        nonlocal decision
        head, _, body = reader.next("http").text.partition("\n")
        method, _, path = head.partition(" /api/v1")
        path = path.replace("{decision_id}", decision).replace("profiles/default/", f"profiles/{code}/")
        answer = operator.call(method, path, json.loads(body) if body.strip() else None, status=status)
        decision = decision or answer["decision_id"]
        return answer

    tried, supposed, replayed, draft, differing, previewed, backtested, active, back = (
        http(), http(), http(), http(201), http(), http(), http(202), http(), http(),
    )  # fmt: skip
    assert backtested["policies"] == [code, "draft"]
    assert (tried["result"], supposed["result"], draft["active"]) == ("scheduled", "scheduled", False)
    assert tried["profile"]["code"] == code
    assert "gz-ct-01" not in [each["idc"] for each in supposed["candidates"]]
    assert replayed["decision_id"] == tried["decision_id"]
    assert previewed["examined"] > 0
    assert [(each["before"], each["after"]) for each in differing["results"]] == [(5, 40)]
    assert (active["revision"], back["revision"]) == (2, 1)


@story_of("docs/provisioning.md")
def machines_are_started(reader: Reader) -> None:
    text = PAGES["docs/provisioning.md"]
    caller = portal(reader)
    (placed,) = reader.curl()
    assert (placed["state"], len(placed["machines"])) == ("provisioning", 3)
    in_state(caller, placed, "active")

    (told,) = (json.loads(block) for block in blocks(text, "json") if "machine.up" in block)
    secret = reader.product.installation.var / "secrets" / name("provider")
    secret.parent.mkdir(exist_ok=True)
    secret.write_text("s", encoding="utf-8")
    keeps_all = {"up_after_seconds": 0, "stuck": 1}
    own = new_provider(reader.product, config=keeps_all, secret_ref=f"file:{secret}")
    fleet = new_fleet(reader.product, providers=[own])
    machines = [{"count": 1}]
    placed = fleet.first.post("/schedule/", fleet.order(action="provision", machines=machines), status=202)
    placed = in_state(fleet.first, placed, "active")
    fleet.first.post(f"/placements/{placed['id']}/release/", status=200)

    def stuck() -> bool:
        told["data"]["token"] = placed["machines"][0]["id"]
        content = json.dumps(told).encode()
        headers = signed_headers("m", datetime.now(UTC), content, [b"s"])
        assert posted(f"{reader.known['API']}/providers/{own}/outcomes/", headers, content)[0] == 204
        return bool(fleet.first.get(f"/placements/{placed['id']}/")["needs_attention"])

    until(stuck, "five times that the machine could not be removed", seconds=60)
    reader.known |= {"ID": placed["id"], "TOKEN": reader.product.tokens["operator"]}
    (ended,) = reader.curl()
    assert (ended["state"], ended["machines"][0]["state"]) == ("released", "given_up")


@story_of("docs/shapes.md")
def priced_by_the_shape_of_its_business(reader: Reader) -> None:
    """The reader is an operator of all tenants, who may enter shapes and ask for any tenant."""
    reader.known["TOKEN"] = reader.product.tokens["operator"]
    shape = reader.curl_as_shown()
    asked = {"region": "440000", "tenant": TENANT, "labels": {"business": shape["business"]}}
    asked["machines"] = [{"bandwidth_mbps": 1}]
    for caller in reader.product.caller_in_each_process("operator"):
        until(lambda caller=caller: TENANT in caller.schedule(**asked)["shape_note"], "the shape", seconds=SOON)
    reader.curl_as_shown()
    (listed,) = reader.curl()
    assert [row["in_force"] for row in listed["results"] if row["tenant"] == TENANT] == ["entered"]


@story_of("docs/quickstart.md")
@story_of("docs/zh/quickstart.md")
def from_nothing_to_an_order(reader: Reader) -> None:
    """Numbers are not compared, because they depend on the hour; codes from the page's answers are replaced by this
    run's.
    """
    (reader.folder / "var").symlink_to(reader.product.installation.var)
    assert reader.curl() == []  # it takes the tokens out of the file
    reader.known |= {"TOKEN": reader.product.tokens["portal"], "OPERATOR": reader.product.tokens["operator"]}

    shown = json.loads(reader.left[0].following)
    (recommended,) = reader.curl()
    assert not list(differs(shown, recommended, values=False))
    assert recommended["result"] == "scheduled"
    (placed,) = reader.curl()
    assert (placed["state"], placed["idc"]) == ("reserved", recommended["idc"]["code"])
    (taint,) = reader.curl(**{"01a20bba-7dd2-7448-afd9-fa3426d21844": placed["id"], "sz-ct-cu-01": placed["idc"]})
    assert taint["idc"] == placed["idc"]
    asked = {"region": "huanan", "isp": "ct", "machines": [{"count": 3, "bandwidth_mbps": 300}]}
    for caller in reader.product.caller_in_each_process():
        until(lambda caller=caller: chosen_by(caller, asked) != placed["idc"], "the taint", seconds=SOON)
    (other,) = reader.curl()
    assert other["idc"]["code"] != placed["idc"]
    reader.known["PLACEMENT"] = placed["id"]
    _, released = reader.curl(**{"TAINT=8 ": f"TAINT={taint['id']} "})
    assert released["state"] == "released"


def uplinks() -> CollectorRegistry:
    """The counters of two uplinks, one of them of an IDC that nobody knows."""
    registry = CollectorRegistry()
    for counter, octets in ("ifHCInOctets", 1e6), ("ifHCOutOctets", 5e5):
        family = Gauge(counter, "Octets.", ["site", "carrier", "ifName"], registry=registry)
        for labels in ("bj1", "bgp", "eth1"), ("bj1", "bgp", "eth2"), ("moon", "ct", "eth1"):
            family.labels(*labels).set_function(lambda octets=octets: monotonic() * octets)
    return registry


@story_of("docs/prometheus.md")
def traffic_comes_from_prometheus(reader: Reader) -> None:
    shown, source = blocks(PAGES["docs/prometheus.md"], "json")[:2]
    operator = reader.product.caller("operator")
    token = reader.product.tokens["operator"]
    with ExitStack() as kept:
        try:
            address = kept.enter_context(prometheus.exporting(uplinks()))
        except Unavailable as error:
            pytest.skip(str(error))
        assert reader.curl(**{"idc_…": token}) == []
        reader.known |= {"TOKEN": token, "PROMETHEUS": address}
        query = reader.left[0]

        def rated() -> bool:
            reader.left[0] = query
            (answer,) = reader.curl()
            reader.left.insert(0, query)
            return series(answer) == series(json.loads(shown))

        until(rated, "a rate of each uplink", seconds=120)
        reader.left.pop(0)
        (reader.folder / "source.json").write_text(source.replace("http://127.0.0.1:9090", address), encoding="utf-8")
        reader.curl()
        kept.callback(operator.call, "DELETE", "/sources/edge-traffic/", status=204)
        reader.curl_as_shown()
        reader.curl()

        def ran() -> bool:
            return "succeeded" in [run["state"] for run in operator.get("/sources/edge-traffic/runs/")["results"]]

        until(ran, "the run", seconds=300)
        reader.curl_as_shown()
    (decided,) = reader.curl()
    assert decided["candidates"][0]["scores"]["network_flow"]["age_seconds"] < 600


def series(answer: Any) -> list[dict[str, str]]:
    """The labels of each series in an answer of Prometheus."""
    return [each["metric"] for each in answer["data"]["result"]]


@story_of("docs/seed-example.md")
def the_seed_example(reader: Reader) -> None:
    text = PAGES["docs/seed-example.md"]
    command, _, expected = reader.next("console").text.partition("\n")
    said = reader.manage(command)
    told = re.sub(r" +[\d.,]+ s old$", "", said, flags=re.MULTILINE)
    assert told.rpartition("\n\nProfile ")[0] == expected.rstrip("\n")

    (asked,) = (json.loads(block) for block in blocks(section(text, "What is asked"), "json"))
    caller = portal(reader)
    assert caller.schedule(**asked)["idc"]["code"] == "d"
    changes, (requests,) = tables(section(text, "What if"))[0], blocks(section(text, "What if"), "json")
    for change, request in zip(changes, requests.splitlines(), strict=True):
        answer = caller.schedule(profile="seed-example", **json.loads(request))
        assert (change["winner"], float(change["total"])) == (answer["idc"]["code"], answer["score"]), change
