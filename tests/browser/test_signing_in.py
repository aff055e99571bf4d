"""The pages for signing in violate no content policy, can be used by everybody, and fit on a phone."""

import json
from base64 import b32decode
from collections.abc import Iterator

import pytest
from django_otp.oath import totp
from playwright.sync_api import Browser

from tests.browser.visiting import visiting
from tests.e2e.signing_in import PASSWORD, Site, site_with
from tests.servers.openid import OpenIdProvider
from tests.servers.openid import running as provider_running


@pytest.fixture(scope="module")
def provider() -> Iterator[OpenIdProvider]:
    with provider_running() as found:
        yield found


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, provider: OpenIdProvider) -> Iterator[Site]:
    with site_with(tmp_path_factory.mktemp("site"), provider) as found:
        credentials = {name: {"password": PASSWORD} for name in ("root", "ann")}
        file = found.installation.var / "demo-credentials.json"
        file.write_text(json.dumps(credentials), encoding="utf-8")
        yield found


@pytest.mark.parametrize(("name", "width"), [("root", 1280), ("ann", 360)])
def test_an_administrator_sets_an_app_up(browser: Browser, site: Site, name: str, width: int) -> None:
    with visiting(browser, site.installation, width=width, theme="dark" if width < 400 else "light") as visitor:
        page = visitor.page
        visitor.goto("/admin/login/?next=/console/")
        assert visitor.too_wide_by() <= 0
        page.locator("#id_username").fill(name)
        page.locator("#id_password").fill(PASSWORD)
        page.locator("#login-form button[type=submit]").click()
        page.wait_for_url("**/admin/second-factor/")
        assert page.locator("img[src^='data:image/svg+xml']").evaluate("image => image.naturalWidth") > 100
        assert visitor.too_wide_by() <= 0
        key = page.locator("#key").inner_text()
        page.locator("#id_code").fill(f"{totp(b32decode(key)):06}")
        page.keyboard.press("Enter")
        page.locator("li code").first.wait_for()
        assert page.locator("li code").count() == 10
        assert visitor.too_wide_by() <= 0
        page.get_by_role("link", name="I have kept them").click()
        page.wait_for_url("**/console/")


def test_somebody_comes_by_the_provider(browser: Browser, site: Site, provider: OpenIdProvider) -> None:
    provider.know("1", preferred_username="alice", groups=["noc"])
    with visiting(browser, site.installation) as visitor:
        page = visitor.page
        visitor.goto("/console/sources/")
        page.get_by_role("link", name="Sign in with your organisation's account").click()
        page.wait_for_url(f"{provider.url}/**")
        page.locator("input[name=sub]").first.fill("1")
        page.keyboard.press("Enter")
        page.wait_for_url("**/console/sources/")
        assert "alice" in visitor.text()
        visitor.complaints[:] = [text for text in visitor.complaints if provider.url not in text]
