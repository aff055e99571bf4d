"""An operator who is bound to a region writes nothing elsewhere, by a source or for the whole installation."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from idcsched.accounts.models import User
from idcsched.accounts.services import token_issue, user_create
from idcsched.inventory.models import Affinity, Idc
from idcsched.inventory.services import affinity_create, region_scope_create
from idcsched.scheduling.models import Profile
from metrics_ingest.models import Latest, Metric, Run, Source
from metrics_ingest.services import source_update
from metrics_ingest.sources.collecting import source_collect
from tests.api.conftest import Api, speaking
from tests.outbound.peers import Peer, json_reply, loopback_allowed, peer

ROWS = [{"site": "e", "cpu": 0.5}, {"site": "a", "cpu": 0.9}]
"""`e` lies in region B, `a` does not."""


@pytest.fixture
def server(settings: Any) -> Iterator[Peer]:
    with loopback_allowed(settings), peer(json_reply(ROWS)) as found:
        yield found


@pytest.fixture
def bound(seeded: Api) -> User:
    """An operator of region B."""
    user = user_create(username="olga", role="operator")
    region_scope_create(user=user, region="B")
    return user


@pytest.fixture
def operator(bound: User) -> Api:
    return speaking(token_issue(user=bound, name="t").text)


@pytest.fixture
def page(bound: User) -> Client:
    client = Client(SERVER_NAME="localhost")
    client.force_login(bound)
    return client


@pytest.fixture
def document(server: Peer) -> dict[str, Any]:
    mapping = {"idc": "site", "values": {"cpu_load": "cpu"}}
    return {"code": "s", "kind": "http_json", "schedule": 60, "config": {"url": server.url}, "mapping": mapping}


def collected() -> Run:
    Source.objects.update(due_at=timezone.now())
    run = source_collect(source_id=Source.objects.get().pk, clock=timezone.now)
    assert run is not None
    return run


def written() -> list[str]:
    return sorted(Latest.objects.filter(metric__code="cpu_load").values_list("idc__code", flat=True))


def test_it_works(operator: Api, document: dict[str, Any]) -> None:
    """The operator's source writes in region B, and its run says why each value of another region was refused."""
    made = operator.post("/sources/", document, status=201)
    assert made["regions"] == ["B"]
    run = collected()
    assert (run.stored, run.refused, written()) == (1, 1, ["e"])
    (refusal,) = operator.get("/sources/s/runs/")["results"][0]["refusals"]
    assert refusal["code"] == "region_not_allowed"
    assert (refusal["examples"][0]["idc"], refusal["examples"][0]["detail"]) == (
        "a",
        "a lies outside of the source's regions",
    )
    tried = operator.post("/sources/s/test/", {}, status=200)
    assert (tried["storable"], tried["refused"]) == (1, 1)


@pytest.mark.parametrize("regions", [None, ["A"], ["B", "A"]])
def test_it_gives_no_source_more_than_its_own(operator: Api, document: dict[str, Any], regions: Any) -> None:
    refused = operator.call("POST", "/sources/", {**document, "regions": regions}, status=403)
    assert refused["code"] == "region_not_allowed"
    operator.post("/sources/", document, status=201)
    refused = operator.call("PATCH", "/sources/s/", {"regions": regions}, status=403)
    assert refused["code"] == "region_not_allowed"
    assert Source.objects.get().regions == ["B"]
    assert operator.call("PUT", "/sources/s/", document, status=200)["regions"] == ["B"]


@pytest.mark.parametrize("regions", [None, ["A"], ["A", "B"]])
def test_nor_touches_one_that_writes_elsewhere(
    operator: Api, seeded: Api, document: dict[str, Any], regions: Any
) -> None:
    seeded.post("/sources/", {**document, "regions": regions}, status=201)
    for method, path, body in (
        ("PATCH", "/sources/s/", {"enabled": False}),
        ("PATCH", "/sources/s/", {"regions": ["B"]}),
        ("PUT", "/sources/s/", document),
        ("DELETE", "/sources/s/", None),
        ("POST", "/sources/s/run/", None),
        ("POST", "/sources/s/test/", {}),
    ):
        assert operator.call(method, path, body, status=403)["code"] == "region_not_allowed", (method, path)
    assert operator.get("/sources/s/")["regions"] == regions


def test_who_is_bound_to_nothing_says_where(seeded: Api, document: dict[str, Any]) -> None:
    assert seeded.post("/sources/", document, status=201)["regions"] is None
    for wrong, pointer in (([], "/regions"), (["nowhere"], "/regions/0"), ("B", "/regions")):
        assert seeded.refused("PATCH", "/sources/s/", {"regions": wrong}, status=400)[1] == [pointer]
    seeded.call("PATCH", "/sources/s/", {"regions": ["B"]}, status=200)
    collected()
    assert written() == ["e"]
    seeded.call("PATCH", "/sources/s/", {"regions": None}, status=200)
    collected()
    assert written() == ["a", "e"]


def test_regions_that_are_gone_are_nowhere(seeded: Api, document: dict[str, Any]) -> None:
    seeded.post("/sources/", {**document, "regions": ["B"]}, status=201)
    Source.objects.update(regions=["gone"])
    run = collected()
    assert (run.stored, run.refused, run.error["code"]) == (0, 2, "nothing_stored")


WHOLE_INSTALLATION = {
    "a metric": ("POST", "/metrics/", {"code": "m", "direction": "lower", "scope": "idc"}),
    "a change of a metric": ("PATCH", "/metrics/cpu_load/", {"name": "n"}),
    "a metric's end": ("DELETE", "/metrics/cpu_load/", None),
    "a profile": ("POST", "/profiles/", {"code": "p", "plugins": []}),
    "a change of a profile": ("PATCH", "/profiles/seed-example/", {"plugins": []}),
    "a draft": ("POST", "/profiles/seed-example/revisions/", {"plugins": []}),
    "an activation": ("POST", "/profiles/seed-example/revisions/1/activate/", None),
    "a profile's end": ("DELETE", "/profiles/seed-example/", None),
}


@pytest.mark.parametrize("case", WHOLE_INSTALLATION)
def test_what_holds_for_the_whole_installation_is_not_its_own(operator: Api, case: str) -> None:
    method, path, body = WHOLE_INSTALLATION[case]
    assert operator.call(method, path, body, status=403)["code"] == "region_not_allowed"
    assert operator.get("/profiles/seed-example/")["revision"] == 1
    assert not {"write_metrics", "write_profiles", "write_shapes"} & set(operator.get("/me/")["may"])


def test_neither_in_the_admin(page: Client) -> None:
    profile, metric = Profile.objects.get(code="seed-example"), Metric.objects.get(code="cpu_load")
    for path in (f"scheduling/profile/{profile.pk}", f"metrics_ingest/metric/{metric.pk}"):
        assert page.get(f"/admin/{path}/change/").status_code == 200
        assert page.post(f"/admin/{path}/change/", {"name": "n"}).status_code == 403
        assert page.post(f"/admin/{path}/delete/", {"post": "yes"}).status_code == 403
        assert page.get(f"/admin/{path.rpartition('/')[0]}/add/").status_code == 403
    assert page.post(f"/admin/scheduling/profile/{profile.pk}/activate/1/").status_code == 403


def form(source: dict[str, Any], **fields: Any) -> dict[str, Any]:
    texts = {"config": '{"url": "http://127.0.0.1:9/"}', "mapping": '{"idc": "s", "values": {"cpu_load": "c"}}'}
    return {"code": "s", "kind": "http_json", "schedule": "60", "enabled": "on", **source, **texts, **fields}


def test_a_source_in_the_admin(page: Client, bound: User) -> None:
    refused = page.post("/admin/metrics_ingest/source/add/", form({}, regions=["A"]))
    assert "A lies outside of your regions" in refused.content.decode()
    assert page.post("/admin/metrics_ingest/source/add/", form({})).status_code == 302
    source = Source.objects.get()
    assert source.regions == ["B"]
    path = f"/admin/metrics_ingest/source/{source.pk}"
    assert page.post(f"{path}/change/", form({}, schedule="120")).status_code == 302
    assert (Source.objects.get().schedule, Source.objects.get().regions) == ("120", ["B"])
    source_update(source=Source.objects.get(), changes={"regions": None})
    assert page.post(f"{path}/change/", form({}, regions=["B"])).status_code == 403
    assert page.post(f"{path}/delete/", {"post": "yes"}).status_code == 403
    assert page.post(f"{path}/try/").status_code == 403
    due = Source.objects.get().due_at
    page.post("/admin/metrics_ingest/source/", {"action": "ask", "_selected_action": [source.pk]})
    assert (Source.objects.get().regions, Source.objects.get().due_at) == (None, due)


REQUIRE = {"idc": "e", "kind": "require"}


def test_nobody_closes_all_other_regions_with_an_affinity(operator: Api, seeded: Api) -> None:
    """An operator of region B can write no affinity `require`, since that rejects all IDCs that it does not name.

    Affinities `prefer` and `forbid` concern the named IDC alone.
    """
    mine = operator.post("/affinities/", {"idc": "e", "kind": "forbid"}, status=201)["id"]
    theirs = seeded.post("/affinities/", REQUIRE, status=201)["id"]
    for method, path, body, pointer in (
        ("POST", "/affinities/", REQUIRE, []),
        ("POST", "/affinities/", [{"idc": "e", "kind": "prefer", "weight": 5}, REQUIRE], ["/1"]),
        ("PUT", f"/affinities/{mine}/", REQUIRE, []),
        ("PATCH", f"/affinities/{mine}/", {"kind": "require"}, []),
        ("PATCH", "/affinities/", [{"id": mine, "kind": "require"}], ["/0"]),
        ("PATCH", f"/affinities/{theirs}/", {"kind": "forbid"}, []),
        ("DELETE", f"/affinities/{theirs}/", None, []),
    ):
        assert operator.refused(method, path, body, status=403) == ("region_not_allowed", pointer), (method, path)
    kinds = {row["id"]: row["kind"] for row in seeded.get("/affinities/?idc=e")["results"]}
    assert kinds == {mine: "forbid", theirs: "require"}


def test_neither_with_the_form(page: Client, seeded: Api) -> None:
    body = {"idc": Idc.objects.get(code="e").pk, "selector": "null", "request_selector": "null"}
    refused = page.post("/admin/inventory/affinity/add/", {**body, "kind": "require"})
    assert "this concerns IDCs outside of your regions" in refused.content.decode()
    assert page.post("/admin/inventory/affinity/add/", {**body, "kind": "forbid"}).status_code == 302
    mine = Affinity.objects.get(idc__code="e")
    refused = page.post(f"/admin/inventory/affinity/{mine.pk}/change/", {**body, "kind": "require"})
    assert "this concerns IDCs outside of your regions" in refused.content.decode()
    theirs = affinity_create(idc="e", kind="require")
    assert page.post(f"/admin/inventory/affinity/{theirs.pk}/change/", {**body, "kind": "forbid"}).status_code == 403
    assert page.post(f"/admin/inventory/affinity/{theirs.pk}/delete/", {"post": "yes"}).status_code == 403
    chosen = {"action": "delete_selected", "_selected_action": [theirs.pk], "post": "yes"}
    page.post("/admin/inventory/affinity/", chosen)
    assert list(Affinity.objects.filter(idc__code="e").values_list("kind", flat=True)) == ["forbid", "require"]


def test_an_affinity_elsewhere_is_not_moved_here(page: Client, seeded: Api) -> None:
    affinity = affinity_create(idc="a", kind="prefer", weight=5)
    body = {
        "idc": Idc.objects.get(code="e").pk,
        "kind": "prefer",
        "weight": "5",
        "selector": "null",
        "request_selector": "null",
    }
    assert page.post(f"/admin/inventory/affinity/{affinity.pk}/change/", body).status_code == 403
    affinity.refresh_from_db()
    assert affinity.idc.code == "a"
