"""Names of a source that match nothing are given the IDC or line that they stand for."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from django.utils.html import strip_tags

from idcsched.accounts.models import User
from idcsched.audit.models import Change
from idcsched.inventory.models import Region, RegionScope
from idcsched.inventory.services import idc_create, isp_create, region_create
from metrics_ingest.models import Latest, Source
from metrics_ingest.sources.collecting import source_collect
from tests.console.conftest import Browser
from tests.metrics_ingest.conftest import idc, loopback, make_source  # noqa: F401 - fixtures
from tests.outbound.peers import json_reply, peer

PAGE = "/console/sources/loads/names/"
MakeSource = Callable[..., Source]
LINES = {"idc": "site", "line": "carrier", "values": {"bandwidth_mbps": "mbps"}}


def asked(make: MakeSource, records: list[dict[str, Any]], **fields: Any) -> Source:
    """Return a source that was asked once and answered with these records."""
    with peer(json_reply(records)) as server:
        source = make(server.url, **fields)
        source_collect(source_id=source.pk, clock=timezone.now)
    return source


def ask_again(source: Source, records: list[dict[str, Any]]) -> None:
    with peer(json_reply(records)) as server:
        Source.objects.update(config=source.config | {"url": server.url}, due_at=timezone.now())
        source_collect(source_id=source.pk, clock=timezone.now)


def names(answer: Any) -> dict[str, str]:
    return {row.unmatched.name: row.typed for row in answer.context["rows"]}


def errors(answer: Any) -> dict[str, str]:
    return {row.unmatched.name: row.error for row in answer.context["rows"] if row.error}


def text(answer: Any) -> str:
    return " ".join(answer.content.decode().split())


def test_a_name_is_mapped_and_its_values_are_stored(browser: Browser, make_source: MakeSource) -> None:  # noqa: F811
    """The name that is the same but for case and punctuation is offered; the others are typed."""
    records = [{"site": "GZ_01", "cpu": 0.5}, {"site": "moon", "cpu": 1}]
    source, client = asked(make_source, records), browser("operator")
    assert f'href="{PAGE}"' in text(client.get("/console/sources/loads/"))
    assert names(client.get(PAGE)) == {"GZ_01": "gz-01", "moon": ""}

    form = {"kind": ["idcs", "idcs"], "name": ["GZ_01", "moon"], "code": ["gz-01", " "]}
    answer = client.post(PAGE, form, follow=True)
    assert "1 name has its place now; the source is asked again at once." in text(answer)
    source.refresh_from_db()
    assert source.mapping["idcs"] == {"GZ_01": "gz-01"}
    change = Change.objects.latest("id")
    assert (change.kind, change.via) == ("source", "console")

    assert names(client.get(PAGE)) == {"moon": ""}  # of the same run
    ask_again(source, records)
    assert Latest.objects.get().value == 0.5


def test_an_idc_may_be_called_by_its_title(browser: Browser, make_source: MakeSource) -> None:  # noqa: F811
    region_create(code="B")
    idc_create(code="bj-07", region="B", name="北京七号机房")
    asked(make_source, [{"site": "北京七号 机房", "cpu": 1}])
    assert names(browser("operator").get(PAGE)) == {"北京七号 机房": "bj-07"}


def test_where_two_are_called_so_nothing_is_offered(browser: Browser, make_source: MakeSource) -> None:  # noqa: F811
    region_create(code="B")
    idc_create(code="gz01", region="B")
    asked(make_source, [{"site": "GZ.01", "cpu": 1}])
    assert names(browser("operator").get(PAGE)) == {"GZ.01": ""}


def test_where_the_idc_is_known_the_line_is_what_is_asked(browser: Browser, make_source: MakeSource) -> None:  # noqa: F811
    """A line of an unknown IDC is not asked for until its IDC is known."""
    records = [
        {"site": "gz-01", "carrier": "C T", "mbps": 40},
        {"site": "moon", "carrier": "C T", "mbps": 50},
        {"site": "moon", "carrier": "C U", "mbps": 60},
    ]
    source, client = asked(make_source, records, mapping=LINES), browser("operator")
    answer = client.get(PAGE)
    assert names(answer) == {"moon": "", "C T": "ct"}
    assert [row.unmatched.count for row in answer.context["rows"]] == [2, 1]
    client.post(PAGE, {"kind": ["lines"], "name": ["C T"], "code": ["ct"]})
    ask_again(source, records)
    assert Latest.objects.get(line__code="ct").value == 40


def test_a_name_that_was_translated_to_a_name_that_is_gone_is_translated_anew(
    browser: Browser,
    make_source: MakeSource,  # noqa: F811
) -> None:
    mapping = {"idc": "site", "values": {"cpu_load": "cpu"}, "idcs": {"a": "gz-old", "b": "gz-01"}}
    source = asked(make_source, [{"site": "a", "cpu": 1}], mapping=mapping)
    browser("operator").post(PAGE, {"kind": ["idcs"], "name": ["gz-old"], "code": ["gz-01"]})
    source.refresh_from_db()
    assert source.mapping["idcs"] == {"a": "gz-01", "b": "gz-01", "gz-old": "gz-01"}


def test_a_code_that_does_not_exist_is_refused_and_stays_in_its_field(
    browser: Browser,
    make_source: MakeSource,  # noqa: F811
) -> None:
    records = [{"site": "moon", "cpu": 1}, {"site": "mars", "cpu": 1}]
    source, client = asked(make_source, records), browser("operator")
    answer = client.post(PAGE, {"kind": ["idcs", "idcs"], "name": ["moon", "mars"], "code": ["gz-01", "<gz-99>"]})
    assert names(answer) == {"moon": "gz-01", "mars": "<gz-99>"}
    assert errors(answer) == {"mars": "There is no IDC <gz-99> here."}
    assert "There is no IDC &lt;gz-99&gt; here." in text(answer)
    source.refresh_from_db()
    assert "idcs" not in source.mapping


def test_a_name_of_lines_stands_for_the_same_in_all_idcs(browser: Browser, make_source: MakeSource) -> None:  # noqa: F811
    region_create(code="B")
    idc_create(code="bj-07", region="B", lines=[{"isp": isp, "purchased_mbps": 1} for isp in ("ct", "cu")])
    records = [{"site": site, "carrier": "uplink", "mbps": 1} for site in ("gz-01", "bj-07")]
    source = asked(make_source, records, mapping=LINES)
    client, form = browser("operator"), {"kind": ["lines"], "name": ["uplink"]}
    (row,) = client.get(PAGE).context["rows"]
    assert (row.unmatched.idcs, row.unmatched.count, row.unmatched.codes) == (("bj-07", "gz-01"), 2, ["ct", "cu"])
    assert "a line of bj-07 and 1 more" in " ".join(strip_tags(text(client.get(PAGE))).split())
    assert errors(client.post(PAGE, form | {"code": ["nonsense"]})) == {"uplink": "There is no line nonsense there."}
    answer = client.post(PAGE, form | {"code": ["cu"]}, follow=True)
    assert "1 name has its place now" in text(answer)
    source.refresh_from_db()
    assert source.mapping["lines"] == {"uplink": "cu"}


@pytest.mark.parametrize("form", [{}, {"kind": ["x"]}, {"kind": ["idcs"], "name": ["y"], "code": ["z"]}])
def test_nothing_chosen_changes_nothing(browser: Browser, make_source: MakeSource, form: dict[str, Any]) -> None:  # noqa: F811
    """A form that chooses nothing, or is about a name that the source has not brought, changes nothing."""
    source, client = asked(make_source, [{"site": "GZ_01", "cpu": 1}]), browser("operator")
    before = Change.objects.count()
    assert client.post(PAGE, form).status_code == 302
    assert Change.objects.count() == before
    source.refresh_from_db()
    assert "idcs" not in source.mapping


def test_a_record_without_a_name_is_a_matter_of_the_mapping(browser: Browser, make_source: MakeSource) -> None:  # noqa: F811
    records = [{"cpu": 1, "mbps": 1}, {"site": "gz-01", "mbps": 1}]
    asked(make_source, records, mapping=LINES)
    answer = browser("operator").get(PAGE)
    assert "none: the mapping's idc found nothing in the record" in text(answer).replace("&#x27;", "'")
    assert "none: the mapping's line found nothing in the record" in text(answer).replace("&#x27;", "'")
    assert 'name="code"' not in text(answer)


def test_it_says_why_there_is_nothing_to_map(browser: Browser, make_source: MakeSource) -> None:  # noqa: F811
    make_source()
    assert "It has not been asked yet." in text(browser("operator").get(PAGE))
    Source.objects.all().delete()
    asked(make_source, [{"site": "gz-01", "cpu": 1}])
    assert "None: all names of the latest run match by now." in text(browser("operator").get(PAGE))
    assert PAGE not in text(browser("operator").get("/console/sources/loads/"))


def test_only_those_may_map_who_may_write_the_source(
    browser: Browser,
    client: Client,
    make_source: MakeSource,  # noqa: F811
) -> None:
    """An operator of a region may map names to its IDCs if the source writes to that region alone."""
    source = asked(make_source, [{"site": "moon", "cpu": 1}])
    region_create(code="B")
    idc_create(code="bj-07", region="B")
    scoped = browser("operator")
    RegionScope.objects.create(user=User.objects.get(username="operator"), region=Region.objects.get(code="B"))
    form = {"kind": ["idcs"], "name": ["moon"], "code": ["gz-01"]}
    for somebody in (browser("viewer"), scoped):
        assert somebody.get(PAGE).status_code == 403
        assert somebody.post(PAGE, form).status_code == 403
        assert PAGE not in text(somebody.get("/console/sources/loads/"))
    assert client.get(PAGE).status_code == 302
    assert scoped.get("/console/sources/nonsense/names/").status_code == 404
    Source.objects.update(regions=["B"])
    answer = scoped.post(PAGE, form)
    assert list(errors(answer).values()) == ["There is no IDC gz-01 here."]
    assert scoped.post(PAGE, form | {"code": ["bj-07"]}).status_code == 302
    source.refresh_from_db()
    assert source.mapping["idcs"] == {"moon": "bj-07"}


def test_a_region_with_many_lines_takes_few_queries(
    browser: Browser,
    make_source: MakeSource,  # noqa: F811
    django_assert_max_num_queries: Callable[..., Any],
) -> None:
    isp_create(code="cm")
    asked(make_source, [{"site": f"moon-{number}", "cpu": 1} for number in range(40)])
    client = browser("operator")
    client.get(PAGE)
    with django_assert_max_num_queries(12):
        assert len(names(client.get(PAGE))) == 40
