"""An operator finds an order and sees why it went where it went."""

from typing import Any

import pytest
from django.test import Client

from idcsched.accounts.services import user_create
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from tests.api.conftest import Api, recorded

pytestmark = pytest.mark.usefixtures("db")

LIST = "/admin/scheduling/decision/"


@pytest.fixture
def decision(seed: Api, portal: Api) -> Decision:
    asked = {"request_id": "order-8812", "region": "A", "profile": "seed-example"}
    return recorded(portal.schedule(**asked)["decision_id"])


@pytest.fixture
def operator(client: Client) -> Client:
    client.force_login(user_create(username="olga", role="operator"))
    return client


def page(client: Client, decision: Decision) -> str:
    return " ".join(client.get(f"{LIST}{decision.pk}/change/").content.decode().split())


def test_it_works(operator: Client, decision: Decision) -> None:
    """The list finds the decision by its order number; its page shows every contribution to the ranking, and why each
    rejected IDC was rejected.
    """
    assert str(decision.pk) in operator.get(f"{LIST}?q=order-8812").content.decode()
    shown = page(operator, decision)
    assert "3/4 IDCs fit: 1 untolerated taint" in shown
    for rank, idc, points in ((1, "d", 220), (2, "b", 220), (3, "a", 110)):
        assert f'<span class="rank">{rank}</span> <strong>{idc}</strong>' in shown
        assert f"<strong>{points}</strong> points" in shown
    assert "<th>y</th> <td>2</td> <td>2</td> <td>100</td> <td>200</td>" in shown
    assert "<strong>c</strong>" in shown
    assert "untolerated taint disabled=true:NoSchedule" in shown
    assert "broken by affinity" in shown


def test_an_order_number_finds_that_order_alone(operator: Client, seed: Api, portal: Api) -> None:
    for number in ("order-1", "order-12", "order-123"):
        portal.schedule(request_id=number, region="A", profile="seed-example")
    recorder.settle()
    found = operator.get(f"{LIST}?q=order-1").content.decode()
    assert ("order-12<" in found, "order-1<" in found) == (False, True)
    assert "order-123<" in operator.get(f"{LIST}?q=rder-12").content.decode()


def test_without_its_inputs_there_is_what_was_recorded(operator: Client, decision: Decision) -> None:
    Decision.objects.update(inputs=None)
    shown = page(operator, decision)
    assert "what this decision was made on was not kept" in shown
    assert "<strong>220</strong> points" in shown
    assert "untolerated_taint" in shown


def test_when_nothing_fits_it_says_what_would_have_helped(operator: Client, seed: Api, portal: Api) -> None:
    answer = portal.schedule(only=["c"], profile="seed-example")
    decision = recorded(answer["decision_id"])
    shown = page(operator, decision)
    assert "unschedulable" in shown
    assert "What would have helped" in shown


def test_nobody_runs_a_script_by_an_order_number(operator: Client, seed: Api, portal: Api) -> None:
    nasty = "<script>alert(1)</script>"
    answer = portal.schedule(request_id=nasty, region="A", profile="seed-example", labels={"business": nasty})
    shown = page(operator, recorded(answer["decision_id"]))
    assert nasty not in shown
    assert nasty not in operator.get(LIST).content.decode()


def test_in_chinese_the_sentences_are_chinese(operator: Client, decision: Decision) -> None:
    operator.post("/admin/language/", {"language": "zh-hans"})
    assert "未容忍" in page(operator, decision) or "污点" in page(operator, decision)


def test_who_belongs_to_a_tenant_sees_its_decisions_alone(client: Client, decision: Decision, tenant: Any) -> None:
    for username, own, seen in (("inside", tenant, True), ("everywhere", None, True)):
        client.force_login(user_create(username=username, role="viewer", tenant=own))
        assert (str(decision.pk) in client.get(LIST).content.decode()) == seen
    Decision.objects.update(tenant=None)
    client.force_login(user_create(username="other", role="viewer", tenant=tenant))
    assert str(decision.pk) not in client.get(LIST).content.decode()
    assert client.get(f"{LIST}{decision.pk}/change/").status_code == 302


def test_a_decision_that_is_gone_has_no_page(operator: Client) -> None:
    assert operator.get(f"{LIST}01a1fc94-8d13-7749-bcf4-2be8fd3ad613/change/").status_code == 302
    assert operator.get(f"{LIST}nonsense/change/").status_code == 302


def test_what_was_answered_is_there_in_full(operator: Client, decision: Decision) -> None:
    shown = operator.get(f"{LIST}{decision.pk}/change/")
    assert shown.context["answer"]["summary"] == "3/4 IDCs fit: 1 untolerated taint"
