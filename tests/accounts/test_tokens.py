"""API tokens: each is shown once and stored as a digest, and a refused one is told the right reason."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from django.db import DatabaseError, IntegrityError, transaction
from django.utils import timezone

from idcsched.accounts.models import ApiToken
from idcsched.accounts.roles import Principal, Role
from idcsched.accounts.services import (
    tenant_create,
    token_authenticate,
    token_issue,
    token_revoke,
    token_touch,
    user_create,
    user_update,
)
from idcsched.accounts.token_use import TokenUse
from idcsched.audit.models import Change
from idcsched.feed.models import FeedEntry
from idcsched.framework.errors import Invalid, NotFound, Unauthenticated

pytestmark = pytest.mark.usefixtures("db")

NOW = datetime(2031, 5, 1, 12, tzinfo=UTC)


@pytest.fixture
def tenant():
    return tenant_create(code="live-cn")


@pytest.fixture
def user(tenant):
    return user_create(username="shop", role=Role.PORTAL, tenant=tenant)


def known(text: str, *, address: str = "10.1.2.3", now: datetime = NOW) -> Principal:
    return token_authenticate(text=text, address=address, now=now)


def test_it_works(user):
    issued = token_issue(user=user, name="orders")
    assert re.fullmatch(r"idc_[A-Za-z0-9_-]{40}", issued.text)
    assert issued.token.prefix == issued.text[:8]
    assert known(issued.text) == Principal(
        user_id=user.pk, username="shop", role=Role.PORTAL, tenant="live-cn", token_id=issued.token.pk
    )


def test_its_text_is_stored_nowhere(user):
    issued = token_issue(user=user, name="orders")
    change = Change.objects.get(kind="token")
    assert issued.text not in str(ApiToken.objects.values().get())
    assert issued.text not in str(change.after)
    assert "digest" not in change.after
    assert (change.action, change.after["name"], change.after["user"]) == ("create", "orders", "shop")
    assert FeedEntry.objects.filter(topic="tokens", key=str(issued.token.pk)).exists()


def test_a_token_is_known_with_one_query(user, django_assert_num_queries):
    issued = token_issue(user=user, name="orders")
    with django_assert_num_queries(1):
        known(issued.text)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        pytest.param("", "token_missing", id="none"),
        pytest.param("idc_" + "x" * 40, "token_invalid", id="an unknown one"),
        pytest.param("idc_short", "token_invalid", id="one too short"),
        pytest.param("bearer" * 10, "token_invalid", id="something else"),
        pytest.param("idc_" + "\ud800" * 40, "token_invalid", id="no Unicode"),
    ],
)
def test_a_text_is_refused(text, code):
    with pytest.raises(Unauthenticated) as caught:
        known(text)
    assert caught.value.code == code


def test_a_revoked_one_is_refused(user):
    issued = token_issue(user=user, name="orders")
    token_revoke(token=issued.token, now=NOW)
    with pytest.raises(Unauthenticated) as caught:
        known(issued.text)
    assert caught.value.code == "token_revoked"
    assert Change.objects.filter(kind="token", action="update").count() == 1


def test_revoking_twice_changes_nothing(user):
    token = token_revoke(token=token_issue(user=user, name="orders").token, now=NOW)
    assert token_revoke(token=token, now=NOW + timedelta(days=1)).revoked_at == NOW
    assert Change.objects.filter(kind="token", action="update").count() == 1


def test_revoking_one_that_is_gone_is_not_found(user):
    token = token_issue(user=user, name="orders").token
    ApiToken.objects.all().delete()
    with pytest.raises(NotFound):
        token_revoke(token=token)


@pytest.mark.parametrize(
    ("late", "refused"), [(timedelta(seconds=-1), False), (timedelta(), True), (timedelta(days=9), True)]
)
def test_one_expires_at_its_moment(user, late, refused):
    issued = token_issue(user=user, name="orders", expires_at=NOW)
    if refused:
        with pytest.raises(Unauthenticated) as caught:
            known(issued.text, now=NOW + late)
        assert caught.value.code == "token_expired"
    else:
        assert known(issued.text, now=NOW + late).username == "shop"


def test_one_of_somebody_who_left_is_refused(user):
    issued = token_issue(user=user, name="orders")
    user_create(username="root", role=Role.ADMIN)
    user_update(user=user, changes={"is_active": False})
    with pytest.raises(Unauthenticated) as caught:
        known(issued.text)
    assert caught.value.code == "token_invalid"


@pytest.mark.parametrize(
    ("networks", "address", "allowed"),
    [
        pytest.param([], "203.0.113.9", True, id="no networks: everywhere"),
        pytest.param([], "", True, id="no networks: even from an unknown address"),
        pytest.param(["10.0.0.0/8"], "10.255.0.1", True, id="inside"),
        pytest.param(["10.0.0.0/8"], "11.0.0.1", False, id="outside"),
        pytest.param(["10.0.0.0/8"], "::ffff:10.0.0.1", True, id="inside, written as IPv6"),
        pytest.param(["10.0.0.0/8", "2001:db8::/32"], "2001:db8::7", True, id="inside the second"),
        pytest.param(["10.0.0.0/8"], "", False, id="an unknown address"),
        pytest.param(["203.0.113.9"], "203.0.113.9", True, id="a single address"),
    ],
)
def test_an_address_is_allowed(user, networks, address, allowed):
    issued = token_issue(user=user, name="orders", allowed_networks=networks)
    if allowed:
        assert known(issued.text, address=address).username == "shop"
    else:
        with pytest.raises(Unauthenticated) as caught:
            known(issued.text, address=address)
        assert caught.value.code == "address_not_allowed"


def test_one_of_a_user_of_all_tenants_can_act_for_one(tenant):
    admin = user_create(username="root", role=Role.ADMIN)
    found = known(token_issue(user=admin, name="cli", tenant=tenant).text)
    assert (found.tenant, found.all_tenants) == ("live-cn", True)


def test_a_portal_of_all_tenants_is_held_to_the_tenant_of_its_token(tenant):
    portal = user_create(username="any", role=Role.PORTAL)
    assert known(token_issue(user=portal, name="one", tenant=tenant).text).all_tenants is False
    assert known(token_issue(user=portal, name="all").text).all_tenants is True


def test_who_has_joined_a_tenant_since_acts_for_that_one(tenant):
    portal = user_create(username="any", role=Role.PORTAL)
    issued = token_issue(user=portal, name="one", tenant=tenant)
    user_update(user=user_create(username="root", role=Role.ADMIN), changes={})
    user_update(user=portal, changes={"tenant": tenant_create(code="other")})
    assert known(issued.text).tenant == "other"


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        pytest.param({"name": "  "}, "/name", "required", id="no name"),
        pytest.param({"name": "x" * 101}, "/name", "too_long", id="too long a name"),
        pytest.param({"allowed_networks": ["10.0.0.1/8"]}, "/allowed_networks", "invalid_network", id="host bits"),
        pytest.param({"allowed_networks": [7]}, "/allowed_networks", "invalid_network", id="a number"),
        pytest.param({"allowed_networks": ["::/0"] * 101}, "/allowed_networks", "invalid_network", id="too many"),
        pytest.param({"expires_at": datetime(2001, 1, 1, tzinfo=UTC)}, "/expires_at", "in_the_past", id="too late"),
    ],
)
def test_a_token_is_not_issued(user, fields, pointer, code):
    with pytest.raises(Invalid) as caught:
        token_issue(**({"user": user, "name": "orders"} | fields))
    assert (caught.value.errors[0].pointer, caught.value.code) == (pointer, code)
    assert not ApiToken.objects.exists()


def test_no_token_for_another_tenant(user):
    with pytest.raises(Invalid) as caught:
        token_issue(user=user, name="orders", tenant=tenant_create(code="other"))
    assert caught.value.code == "tenant_not_allowed"


def test_no_two_tokens_share_a_digest(user):
    token = token_issue(user=user, name="orders").token
    with pytest.raises(IntegrityError), transaction.atomic():
        ApiToken.objects.create(user=user, name="twin", digest=token.digest)


def test_use_is_noted_once_a_minute(user):
    token = token_issue(user=user, name="orders").token
    moments = [NOW, NOW + timedelta(seconds=59), NOW + timedelta(seconds=60)]
    assert [token_touch(token_id=token.pk, now=now) for now in moments] == [True, False, True]
    token.refresh_from_db()
    assert token.last_used_at == moments[-1]
    assert not Change.objects.filter(kind="token", action="update").exists()


@pytest.fixture
def use() -> Iterator[TokenUse]:
    use = TokenUse()
    yield use
    use.stop()


def test_most_uses_cost_no_query(user, use, django_assert_num_queries):
    token = token_issue(user=user, name="orders").token
    with django_assert_num_queries(0):
        for second in range(60):
            use.note(token.pk, NOW + timedelta(seconds=second))
    with django_assert_num_queries(1):
        use.flush()
    use.note(token.pk, NOW + timedelta(seconds=60))
    with django_assert_num_queries(1):
        use.flush()


def test_a_session_has_no_token_to_note(use, django_assert_num_queries):
    use.note(None, NOW)
    with django_assert_num_queries(0):
        use.flush()


def test_what_is_remembered_of_uses_is_bounded(use, monkeypatch):
    monkeypatch.setattr("idcsched.accounts.token_use.REMEMBERED", 3)
    for number in range(10):
        use.note(number, NOW)
    assert len(use._noted) <= 3


def test_a_use_that_can_not_be_noted_is_logged_and_no_more(use, monkeypatch, caplog):
    def away(**kwargs: object) -> bool:
        raise DatabaseError("away")

    monkeypatch.setattr("idcsched.accounts.token_use.token_touch", away)
    use.note(7, timezone.now())
    use.flush()
    assert "the use of token 7 could not be noted" in caplog.text


def test_who_notes_a_use_waits_for_nobody(user, use):
    token, now = token_issue(user=user, name="t").token, timezone.now()
    use.note(token.pk, now)
    use.stop()
    token.refresh_from_db()
    assert token.last_used_at == now
