"""Portals are told of every move: at least once, in order, signed, and of nothing that did not happen."""

from base64 import b64decode
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from django.db import IntegrityError, connection, transaction
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.accounts.services import tenant_callback_secret_make, tenant_create, tenant_update
from idcsched.audit.context import origin_set
from idcsched.audit.models import Change
from idcsched.framework.errors import Invalid, NotFound
from idcsched.outbound.health import Patience
from idcsched.outbound.hosts import AllowedHosts
from idcsched.placement import delivering
from idcsched.placement.committing import placement_commit
from idcsched.placement.delivering import callbacks_announce, deliveries_prune, delivery_resend, placement_deliver
from idcsched.placement.lifecycle import Action
from idcsched.placement.models import Delivery, Placement
from idcsched.placement.signing import signed_headers
from idcsched.placement.transitions import placement_confirm, placement_release, placements_expire
from idcsched.placement.waiting import waiting_try
from idcsched.scheduling.deciding import Scheduled
from tests.outbound.peers import Peer, closed_port, hang_up, huge, in_turn, raw_reply, redirect, silent
from tests.placement.conftest import PORTAL
from tests.placement.receiving import FINE, received, receiver, signature_fits

Order = Callable[..., Placement]
BROKEN = raw_reply(b"", 500)


@pytest.fixture
def portal() -> Iterator[Peer]:
    with receiver() as server:
        yield server


@pytest.fixture
def allowed(fleet: None) -> Tenant:
    return tenant_update(tenant=Tenant.objects.get(), changes={"callback_hosts": ["127.0.0.1"]})


@pytest.fixture
def told(order: Order, allowed: Tenant, portal: Peer) -> Placement:
    """A reservation with a callback address."""
    return order(callback_url=portal.url, request_id="order-1")


def later(**ago: float) -> None:
    """Set all times of the callbacks back by this much."""
    for row in Delivery.objects.all():
        for name in ("queued_at", "next_try_at", "claimed_until"):
            if (value := getattr(row, name)) is not None:
                setattr(row, name, value - timedelta(**ago))
        row.save()


def states(portal: Peer) -> list[str]:
    return [message.state for message in received(portal)]


def test_it_works(told: Placement, portal: Peer, allowed: Tenant) -> None:
    secret = tenant_callback_secret_make(tenant=allowed)
    placement_release(placement=told)

    assert placement_deliver(placement_id=told.pk) == 2

    first, second = received(portal)
    assert (first.document["type"], second.document["type"]) == ("placement.reserved", "placement.released")
    assert first.document["data"].items() >= {
        "id": str(told.pk), "request_id": "order-1", "tenant": "live-cn", "idc": "a", "version": 1, "move": "reserve",
        "lines": [{"line": "ct", "isp": "ct", "bandwidth_mbps": 300.0}], "decision_id": str(told.decision_id),
        "bill": None, "bill_unknown": "no_price",
    }.items()  # fmt: skip
    assert signature_fits(first, secret)
    assert signature_fits(second, secret)
    assert first.id != second.id
    assert set(Delivery.objects.values_list("state", "tries", "error")) == {("delivered", 1, "")}
    assert placement_deliver(placement_id=told.pk) == 0


def test_the_signature_is_that_of_the_specification() -> None:
    """The example by which the specification's own libraries are tested."""
    secret, at = b64decode("MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"), datetime.fromtimestamp(1614265330, UTC)
    headers = signed_headers("msg_p5jXN8AQM9LWM0D4loKWxJek", at, b'{"test": 2432232314}', [secret])
    assert headers["webhook-timestamp"] == "1614265330"
    assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


def test_who_names_no_address_is_told_nothing(order: Order) -> None:
    placement_release(placement=order())
    assert not Delivery.objects.exists()


def test_what_is_undone_is_not_told(told: Placement) -> None:
    with transaction.atomic():
        placement_release(placement=told)
        transaction.set_rollback(True)
    assert [delivery.version for delivery in Delivery.objects.all()] == [1]


def test_an_event_is_told_once(told: Placement) -> None:
    with pytest.raises(IntegrityError), transaction.atomic():
        Delivery.objects.create(placement=told, version=1, kind="placement.reserved", url="http://x/", payload="{}")


def test_workers_are_sent_for_once_it_is_written(
    order: Order, allowed: Tenant, portal: Peer, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[object] = []
    monkeypatch.setattr("idcsched.placement.callbacks.announce_now", sent.append)
    with transaction.atomic():
        placement = order(callback_url=portal.url)
        assert sent == []
    assert sent == [placement.pk]


def test_an_order_that_waits_is_told_of_each_step(order: Order, allowed: Tenant, portal: Peer) -> None:
    first = order(machines=[{"count": 1, "bandwidth_mbps": 100, "cpu": 100}], only=["a"])
    waiting = order(
        machines=[{"count": 1, "bandwidth_mbps": 100, "cpu": 100}],
        only=["a"],
        wait_seconds=600,
        callback_url=portal.url,
    )
    placement_release(placement=first)
    waiting_try(now=timezone.now())
    placements_expire(now=timezone.now() + timedelta(days=1))

    placement_deliver(placement_id=waiting.pk)

    assert states(portal) == ["waiting", "reserved", "expired"]
    assert [message.document["data"]["idc"] for message in received(portal)] == [None, "a", "a"]


def test_a_commit_takes_the_address_of_the_recommendation(
    recommend: Callable[..., Scheduled], allowed: Tenant, portal: Peer
) -> None:
    token = recommend(callback_url=portal.url).commit_token
    assert token is not None
    placement, _ = placement_commit(
        commit_token=token, action=Action.RESERVE, principal=PORTAL, http_request_id="http-2"
    )
    placement_deliver(placement_id=placement.pk)
    assert states(portal) == ["reserved"]


@pytest.mark.parametrize(
    ("trouble", "said"),
    [
        pytest.param(BROKEN, "answered 500", id="an error"),
        pytest.param(raw_reply(b"", 404), "answered 404", id="another address"),
        pytest.param(hang_up, "could not be reached", id="a connection cut off"),
        pytest.param(silent, "no whole reply", id="no answer"),
    ],
)
def test_what_was_not_received_is_sent_again_as_the_same_message(
    told: Placement, portal: Peer, monkeypatch: pytest.MonkeyPatch, trouble: Callable[..., None], said: str
) -> None:
    monkeypatch.setattr(delivering, "TIMEOUT_SECONDS", 1.5 if trouble is silent else 60.0)
    portal.behave = in_turn(trouble, trouble, FINE)
    placement_release(placement=told)

    assert placement_deliver(placement_id=told.pk) == 0
    assert placement_deliver(placement_id=told.pk) == 0, "it is too early to try again"
    first = Delivery.objects.get(version=1)
    assert (first.state, first.tries) == ("pending", 1)
    assert said in first.error
    for minutes in (1, 2):
        later(minutes=minutes)
        placement_deliver(placement_id=told.pk)

    assert states(portal) == ["reserved", "reserved", "reserved", "released"], "the later one has waited"
    assert len({message.id for message in received(portal)}) == 2
    assert len({message.body for message in received(portal)}) == 2
    assert set(Delivery.objects.values_list("state", "error")) == {("delivered", "")}


def test_a_portal_that_is_down_is_told_when_it_is_back(order: Order, allowed: Tenant) -> None:
    placement = order(callback_url=f"http://127.0.0.1:{closed_port()}/")
    placement_deliver(placement_id=placement.pk)
    with receiver() as portal:
        Delivery.objects.update(url=portal.url)
        later(minutes=1)
        assert placement_deliver(placement_id=placement.pk) == 1


def test_a_redirect_is_not_followed(told: Placement, portal: Peer) -> None:
    with receiver() as other:
        portal.behave = redirect(other.url)
        assert placement_deliver(placement_id=told.pk) == 0
        assert other.calls == []
    assert "answered 307" in Delivery.objects.get().error


def test_of_the_answer_only_the_status_is_read(told: Placement, portal: Peer) -> None:
    portal.behave = huge
    assert placement_deliver(placement_id=told.pk) == 1


def test_pauses_grow_to_an_hour_and_end_after_a_day(
    told: Placement, portal: Peer, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("idcsched.outbound.client.Patience", lambda: Patience(failures=10**6))
    monkeypatch.setattr(delivering.random, "uniform", lambda low, high: 1.0)
    now = timezone.now()
    monkeypatch.setattr(timezone, "now", lambda: now)  # time passes by `later` alone
    portal.behave = BROKEN
    pauses = []
    while (row := Delivery.objects.get()).state == "pending":
        pause = (row.next_try_at - now).total_seconds()
        pauses.append(round(pause))
        later(seconds=max(0.0, pause))
        placement_deliver(placement_id=told.pk)
    assert pauses[1:8] == pytest.approx([5, 5, 10, 20, 40, 80, 160], rel=0.2, abs=2)
    assert max(pauses) == 3600
    assert sum(pauses) == pytest.approx(86_400, abs=60)
    assert row.state == "given_up"
    assert "is given up" in caplog.text


def test_pauses_are_never_quite_the_same() -> None:
    pauses = {delivering._pause(timedelta(minutes=10)) for _ in range(50)}
    assert len(pauses) > 40
    assert all(timedelta(minutes=7.5) <= pause <= timedelta(minutes=12.5) for pause in pauses)


def test_after_one_that_is_given_up_the_next_has_its_turn(told: Placement, portal: Peer) -> None:
    placement_release(placement=told)
    Delivery.objects.filter(version=1).update(state="given_up")
    placement_deliver(placement_id=told.pk)
    assert states(portal) == ["released"]


def test_resent_it_is_the_same_message(told: Placement, portal: Peer) -> None:
    placement_deliver(placement_id=told.pk)
    delivery_resend(delivery=Delivery.objects.get())
    placement_deliver(placement_id=told.pk)
    first, second = received(portal)
    assert (first.id, first.body) == (second.id, second.body)


def test_one_given_up_is_tried_for_another_day(told: Placement, portal: Peer) -> None:
    later(days=2)
    portal.behave = in_turn(BROKEN, BROKEN, FINE)
    placement_deliver(placement_id=told.pk)
    assert Delivery.objects.get().state == "given_up"
    assert delivery_resend(delivery=Delivery.objects.get()).state == "pending"
    placement_deliver(placement_id=told.pk)
    assert Delivery.objects.get().state == "pending"


def test_who_had_it_sent_again_is_on_record(told: Placement, portal: Peer) -> None:
    placement_deliver(placement_id=told.pk)
    with origin_set(actor="alice", via="api", message="they lost it"):
        delivery_resend(delivery=Delivery.objects.get())
    change = Change.objects.get(kind="callback")
    assert (change.key, change.actor, change.message) == (str(Delivery.objects.get().pk), "alice", "they lost it")
    assert (change.before["state"], change.after["state"]) == ("delivered", "pending")


@pytest.mark.parametrize(
    ("days", "state", "left"),
    [
        pytest.param(31, "delivered", 0, id="received long ago"),
        pytest.param(31, "given_up", 0, id="given up long ago"),
        pytest.param(31, "pending", 1, id="not yet received"),
        pytest.param(29, "delivered", 1, id="received lately"),
    ],
)
def test_they_are_forgotten_after_a_while(told: Placement, days: int, state: str, left: int) -> None:
    long_ago = timezone.now() - timedelta(days=days)
    Delivery.objects.update(state=state, created_at=long_ago, queued_at=long_ago, delivered_at=long_ago)
    assert deliveries_prune(now=timezone.now()) == 1 - left
    assert Delivery.objects.count() == left


def test_one_sent_again_lately_is_kept(told: Placement) -> None:
    long_ago = timezone.now() - timedelta(days=31)
    Delivery.objects.update(state="delivered", created_at=long_ago, delivered_at=long_ago)
    assert deliveries_prune(now=timezone.now()) == 0


def test_one_that_is_gone_is_not_resent(told: Placement) -> None:
    delivery = Delivery.objects.get()
    Delivery.objects.all().delete()
    with pytest.raises(NotFound):
        delivery_resend(delivery=delivery)


def test_a_claim_keeps_others_away_until_it_runs_out(told: Placement, portal: Peer) -> None:
    """A worker has claimed and sent a callback, and was killed before it noted that. The callback is sent again, with
    the same id, when the claim has run out.
    """
    delivery = delivering._claimed(told.pk)
    assert delivery is not None
    delivering._send(delivery)

    assert placement_deliver(placement_id=told.pk) == 0
    assert callbacks_announce(now=timezone.now()) == 0
    later(seconds=61)
    assert callbacks_announce(now=timezone.now()) == 1
    assert placement_deliver(placement_id=told.pk) == 1

    first, second = received(portal)
    assert (first.id, first.body) == (second.id, second.body)


def test_who_lost_the_claim_changes_nothing(told: Placement, portal: Peer) -> None:
    slow = delivering._claimed(told.pk)
    assert slow is not None
    later(seconds=61)
    placement_deliver(placement_id=told.pk)
    delivering._failed(slow, "too late")
    assert Delivery.objects.get().state == "delivered"


def test_the_sweep_finds_each_placement_once_and_in_order(told: Placement, order: Order, portal: Peer) -> None:
    placement_release(placement=told)
    order(callback_url=portal.url)
    assert callbacks_announce(now=timezone.now()) == 2
    Delivery.objects.filter(placement=told, version=1).update(next_try_at=timezone.now() + timedelta(hours=1))
    assert callbacks_announce(now=timezone.now()) == 1


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_many_workers_at_once_send_each_once_and_in_order(told: Placement, portal: Peer) -> None:
    placement_confirm(placement=told)
    placement_release(placement=told)

    def work(_: int) -> int:
        try:
            return sum(placement_deliver(placement_id=told.pk) for _ in range(20))
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(work, range(8))) == 4
    assert states(portal) == ["reserved", "active", "releasing", "released"]


@pytest.mark.parametrize(
    ("url", "code"),
    [
        pytest.param("http://elsewhere.example/x", "callback_host_not_allowed", id="a host that is not listed"),
        pytest.param("http://sub.portal.example/x", "callback_host_not_allowed", id="a sub-domain of one"),
        pytest.param("http://127.0.0.2/x", "callback_host_not_allowed", id="an address that is not listed"),
        pytest.param("http://2130706433/x", "callback_host_not_allowed", id="a listed address in disguise"),
        pytest.param("http://portal.example@elsewhere.example/", "invalid_url", id="a user's name"),
        pytest.param("ftp://portal.example/x", "invalid_url", id="another scheme"),
        pytest.param("portal.example/x", "invalid_url", id="no scheme"),
        pytest.param("http://portal.example:99999/x", "invalid_url", id="no port"),
        pytest.param("http://portal.example/a b", "invalid_url", id="a blank"),
        pytest.param("http:///x", "invalid_url", id="no host"),
        pytest.param("", "invalid_url", id="nothing"),
    ],
)
def test_addresses_that_are_refused(order: Order, allowed: Tenant, url: str, code: str) -> None:
    tenant_update(tenant=allowed, changes={"callback_hosts": ["portal.example", "127.0.0.1"]})
    with pytest.raises(Invalid) as refusal:
        order(callback_url=url)
    assert (refusal.value.code, refusal.value.errors[0].pointer) == (code, "/callback_url")
    assert not Placement.objects.exists()


def test_a_commit_is_refused_where_the_host_is_listed_no_more(
    recommend: Callable[..., Scheduled], allowed: Tenant, portal: Peer
) -> None:
    tenant_update(tenant=allowed, changes={"callback_hosts": ["elsewhere.example"]})
    token = recommend(callback_url="http://elsewhere.example/").commit_token
    tenant_update(tenant=allowed, changes={"callback_hosts": []})
    assert token is not None
    with pytest.raises(Invalid) as refusal:
        placement_commit(commit_token=token, action=Action.RESERVE, principal=PORTAL, http_request_id="http-2")
    assert refusal.value.code == "callback_host_not_allowed"


def test_a_host_that_is_listed_no_more_is_not_called(told: Placement, portal: Peer, allowed: Tenant) -> None:
    tenant_update(tenant=allowed, changes={"callback_hosts": []})
    assert placement_deliver(placement_id=told.pk) == 0
    assert portal.calls == []
    assert "callback hosts" in Delivery.objects.get().error


def test_a_name_that_leads_into_the_own_network_is_not_called(order: Order, allowed: Tenant, portal: Peer) -> None:
    """`localhost` is listed among the callback hosts, but resolves to a private address, which is not called unless it
    is listed, too.
    """
    tenant_update(tenant=allowed, changes={"callback_hosts": ["localhost"]})
    url = portal.url.replace("127.0.0.1", "localhost")
    placement = order(callback_url=url)
    assert placement_deliver(placement_id=placement.pk) == 0
    assert portal.calls == []
    assert "callback_hosts does not list it" in Delivery.objects.get().error
    later(minutes=1)

    tenant_update(tenant=allowed, changes={"callback_hosts": ["localhost", "127.0.0.1"]})
    assert placement_deliver(placement_id=placement.pk) == 1


@pytest.mark.parametrize(
    ("host", "listed"),
    [("a.example", True), ("A.Example", True), ("b.a.example", False), ("10.0.0.7", True), ("10.0.0.8", False)],
)
def test_hosts_that_are_listed(host: str, listed: bool) -> None:
    assert AllowedHosts.of(["a.example", "10.0.0.7"]).lists(host) is listed


def test_for_a_day_the_secret_before_goes_on(told: Placement, portal: Peer, allowed: Tenant) -> None:
    old, new = (tenant_callback_secret_make(tenant=allowed) for _ in range(2))
    placement_deliver(placement_id=told.pk)
    Tenant.objects.update(callback_secret_at=timezone.now() - timedelta(hours=25))
    delivery_resend(delivery=Delivery.objects.get())
    placement_deliver(placement_id=told.pk)
    during, after = received(portal)
    assert old != new
    assert [signature_fits(during, secret) for secret in (old, new)] == [True, True]
    assert [signature_fits(after, secret) for secret in (old, new)] == [False, True]


def test_secrets_are_each_tenants_own(allowed: Tenant) -> None:
    other = tenant_create(code="other")
    assert tenant_callback_secret_make(tenant=other) != tenant_callback_secret_make(tenant=allowed)
