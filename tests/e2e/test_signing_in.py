"""Signing in to a running installation, by a real OpenID provider and with a second factor, as a browser does."""

import re
from base64 import b32decode
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from time import sleep, time

import pytest
from django_otp.oath import totp

from tests.e2e.signing_in import Browser, Site, site_with
from tests.servers import paused
from tests.servers.openid import OpenIdProvider
from tests.servers.openid import running as provider_running

STEP = 30
GUESSED_OFTEN = (
    "from django_otp.plugins.otp_totp.models import TOTPDevice;"
    "TOTPDevice.objects.filter(user__username='cleo').update(throttling_failure_count=12)"
)


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    with provider_running() as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, provider: OpenIdProvider) -> Iterator[Site]:
    with site_with(tmp_path_factory.mktemp("site"), provider) as found:
        yield found


def test_it_works(site: Site, provider: OpenIdProvider) -> None:
    provider.know("1", preferred_username="alice", email="alice@example.com", given_name="Al", groups=["x", "noc"])
    browser = site.browser()
    answer = site.sign_in(browser, "1", "/console/sources/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/console/sources/")
    assert browser.known
    assert "alice" in browser.to("/console/").text
    alice = site.user("alice")
    assert (alice["role"], alice["email"], alice["first_name"]) == ("operator", "alice@example.com", "Al")


def test_roles_follow_the_groups_at_each_sign_in(site: Site, provider: OpenIdProvider) -> None:
    """An account that is renamed at the provider keeps its user; without any group its user falls back to viewer."""
    for groups, role in ((["staff", "idc-admins"], "admin"), (["noc"], "operator"), ("staff", "viewer")):
        provider.know("2", preferred_username=f"bob-{role}", groups=groups)
        assert site.sign_in(site.browser(), "2").status_code == 302
        assert site.user("bob-admin")["role"] == role
    provider.know("2", preferred_username="bob", groups=["noc"])
    site.sign_in(site.browser(), "2")
    provider.know("2", preferred_username="bob", groups=[])
    browser = site.browser()
    answer = site.sign_in(browser, "2")
    assert answer.status_code == 403
    assert "Your account is bob, but none of its groups has a role here" in unescape(answer.text)
    assert not browser.known
    assert site.user("bob-admin")["role"] == "viewer"


def test_who_is_in_no_group_of_ours_becomes_no_user(site: Site, provider: OpenIdProvider) -> None:
    provider.know("3", preferred_username="carl", groups=["sales"])
    browser = site.browser()
    assert site.sign_in(browser, "3").status_code == 403
    assert not browser.known
    assert site.ask("GET", "carl").status_code == 404


def test_nobody_takes_a_user_over_by_its_name(site: Site, provider: OpenIdProvider) -> None:
    provider.know("4", preferred_username="taken", groups=["staff"])
    browser = site.browser()
    answer = site.sign_in(browser, "4")
    assert answer.status_code == 409
    assert "there is one of this name already" in unescape(answer.text)
    assert not browser.known
    assert site.user("taken")["role"] == "admin"


def test_who_is_switched_off_stays_out(site: Site, provider: OpenIdProvider) -> None:
    provider.know("5", preferred_username="eve", groups=["noc"])
    browser = site.browser()
    site.sign_in(browser, "5")
    assert browser.known
    assert site.ask("PATCH", "eve", {"is_active": False}).status_code == 200
    assert not browser.known
    answer = site.sign_in(browser, "5")
    assert (answer.status_code, "switched this user off" in answer.text) == (403, True)
    assert not browser.known


def test_an_answer_to_another_question_is_refused(site: Site, provider: OpenIdProvider) -> None:
    """The provider's answer is refused if its state, nonce or code is not that of this sign-in, or was used before."""
    provider.know("6", preferred_username="mallory", groups=["idc-admins"])
    browser, other = site.browser(), site.browser()
    back = site.back(browser, "6")
    asked = other.to("/admin/oidc/").headers["Location"]
    swapped = re.sub(r"nonce=\w+", "nonce=0123456789", asked)
    answers = {
        "another state": browser.to(re.sub(r"state=\w+", "state=0123456789", back)),
        "another browser's": other.to(back),
        "another nonce": other.to(provider.approve(other, swapped, "6")),
        "no code": site.browser().to("/admin/oidc/callback/"),
        "denied": browser.to("/admin/oidc/callback/?error=access_denied"),
        "an invented code": browser.to(re.sub(r"code=\w+", "code=0123456789", back)),
        "a state used up": browser.to(back),
    }
    for name, answer in answers.items():
        assert answer.status_code == 400, name
        assert "not valid for this sign-in" in answer.text, name
    assert not browser.known
    assert not other.known
    assert site.ask("GET", "mallory").status_code == 404


@pytest.mark.parametrize("wanted", ["https://evil.example/", "//evil.example/", "/\\evil.example"])
def test_nobody_is_led_elsewhere(site: Site, provider: OpenIdProvider, wanted: str) -> None:
    provider.know("1", preferred_username="alice", groups=["noc"])
    assert site.sign_in(site.browser(), "1", wanted).headers["Location"] == "/admin/"


def test_a_provider_that_is_not_listed_is_not_called(tmp_path: Path, provider: OpenIdProvider) -> None:
    with site_with(tmp_path, provider, OUTBOUND_HOSTS="*", SECOND_FACTOR="off") as closed:
        answer = closed.browser().to("/admin/oidc/")
        assert (answer.status_code, "does not answer as it should" in answer.text) == (502, True)
        assert "OUTBOUND_HOSTS does not list it" in (tmp_path / "web-1.log").read_text(encoding="utf-8")
        assert closed.browser().password("root").headers["Location"] == "/console/"


def test_a_provider_that_hangs_delays_nobody_else(site: Site, provider: OpenIdProvider) -> None:
    """Sessions and passwords go on working, and whoever signs in by the hanging provider is told so in time."""
    provider.know("1", preferred_username="alice", groups=["noc"])
    inside, coming = site.browser(), site.browser()
    site.sign_in(inside, "1")
    back = site.back(coming, "1")
    with paused(provider.pid):
        answer = coming.to(back)
        assert (answer.status_code, "does not answer as it should" in answer.text) == (502, True)
        assert inside.known
        assert site.browser().password("root").status_code == 302
    assert site.sign_in(coming, "1").status_code == 302
    assert coming.known


def set_up(browser: Browser, name: str) -> tuple[bytes, int, list[str]]:
    """Sign in for the first time; returns the key of the app, the time of the first code, and the recovery codes."""
    assert browser.password(name).headers["Location"] == "/admin/second-factor/"
    page = browser.to("/admin/second-factor/").text
    assert 'src="data:image/svg+xml' in page
    found = re.search(r'id="key">(\w+)<', page)
    assert found is not None
    key, now = b32decode(found[1]), int(time())
    assert not browser.known
    assert browser.code(f"{(totp(key) + 1) % 1_000_000:06}").status_code == 200
    assert not browser.known
    done = browser.code(_code_at(key, now))
    codes = re.findall(r"<li><code>(\w+)</code></li>", done.text)
    assert (done.status_code, len(codes)) == (200, 10)
    assert browser.known
    return key, now, codes


def test_an_administrator_needs_a_second_factor(site: Site) -> None:
    """A password alone lets nobody in; the app's next code does, one that was used before does not."""
    browser = site.browser()
    key, now, codes = set_up(browser, "ann")
    again = site.browser()
    assert again.password("ann").headers["Location"] == "/admin/second-factor/"
    page = again.to("/admin/second-factor/").text
    assert 'id="key"' not in page
    assert not set(codes) & set(page.split())
    replayed = again.code(_code_at(key, now))
    assert (replayed.status_code, "was used before" in replayed.text) == (200, True)
    assert not again.known
    entered = site.browser()
    entered.password("ann")
    sleep(1)  # after the wrong one
    answer = entered.code(_code_at(key, max(now + STEP, int(time()))))
    assert (answer.status_code, answer.headers["Location"]) == (302, "/console/")
    assert entered.known


def test_a_recovery_code_counts_once(site: Site) -> None:
    _, _, codes = set_up(site.browser(), "bea")
    browser = site.browser()
    browser.password("bea")
    assert browser.code(f" {codes[0].upper()} ").status_code == 302
    assert browser.known
    again = site.browser()
    again.password("bea")
    assert again.code(codes[0]).status_code == 200
    assert not again.known


def test_guessing_slows_down(site: Site) -> None:
    """After wrong codes even the right one is refused for a while, in every browser."""
    key, now, _ = set_up(site.browser(), "cleo")
    browser = site.browser()
    browser.password("cleo")
    for pause in range(3):
        sleep(pause)  # the first wrong code costs a second, the next one two
        guess = browser.code(f"{(int(_code_at(key, now + STEP)) + 1 + pause) % 1_000_000:06}")
    assert (guess.status_code, guess.headers["Retry-After"]) == (429, "4")
    site.installation.python(GUESSED_OFTEN)  # so that the wait is not over before the other browser has asked
    other = site.browser()
    other.password("cleo")
    assert other.code(_code_at(key, now + STEP)).status_code == 429
    assert not other.known


def test_a_reset_lets_one_set_up_another_app(site: Site) -> None:
    first, _, codes = set_up(site.browser(), "dora")
    assert "is deleted" in site.installation.manage("second_factor_reset", "dora")
    second, _, fresh = set_up(site.browser(), "dora")
    assert first != second
    assert not set(codes) & set(fresh)


def test_others_need_none_until_they_are_administrators(site: Site) -> None:
    browser = site.browser()
    assert browser.password("oscar").headers["Location"] == "/console/"
    assert browser.known
    assert site.ask("PATCH", "oscar", {"role": "admin"}).status_code == 200
    assert not browser.known
    assert browser.password("oscar").headers["Location"] == "/admin/second-factor/"


def test_the_second_step_needs_the_first(site: Site) -> None:
    answer = site.browser().to("/admin/second-factor/")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/admin/login/")


def _code_at(key: bytes, at: int) -> str:
    return f"{totp(key, t0=int(time()) - at):06}"
