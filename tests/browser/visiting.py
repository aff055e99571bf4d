"""Somebody at a browser, who notices whatever a page does wrong."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Literal

from playwright.sync_api import Browser, BrowserContext, ConsoleMessage, Error, Page, Request, Response, expect

from tests.e2e.installation import Installation, post

__all__ = ["Visitor", "visiting"]

VIOLATIONS = """
document.addEventListener("securitypolicyviolation", (event) => {
    console.error(`policy violated: ${event.violatedDirective} ${event.blockedURI} ${event.sample}`);
});
"""
PATIENCE = 120_000
"""Milliseconds for what must come, on a machine that may be busy with other tests."""
TOO_WIDE = "document.documentElement.scrollWidth - document.documentElement.clientWidth"


@dataclass(frozen=True, slots=True)
class Visitor:
    """`complaints`: what went wrong on the pages that were visited."""

    page: Page
    site: str
    credentials: dict[str, dict[str, str]]
    complaints: list[str] = field(default_factory=list)

    def goto(self, path: str) -> None:
        self.page.goto(f"{self.site}{path}")

    def log_in(self, who: str) -> None:
        self.goto("/admin/login/")
        self.page.locator("#id_username").fill(who)
        self.page.locator("#id_password").fill(self.credentials[who]["password"])
        self.page.locator("#login-form button[type=submit]").click()
        self.page.wait_for_url(f"{self.site}/admin/")

    def text(self) -> str:
        """What the page says, as a reader sees it."""
        return " ".join(self.page.locator("body").inner_text().split())

    def too_wide_by(self) -> int:
        """By how many pixels the page is wider than the window."""
        self.page.wait_for_load_state()  # a click may have led to a page that is only beginning
        return int(self.page.evaluate(TOO_WIDE))

    def schedule(self, **request: Any) -> dict[str, Any]:
        """Send a request to schedule as the portal; return the answer."""
        return post(f"{self.site}/api/v1/schedule/", request, self.credentials["portal"]["token"])


def _watch(visitor: Visitor) -> None:
    """Have the page report what goes wrong."""
    page, complain = visitor.page, visitor.complaints.append

    def heard(message: ConsoleMessage) -> None:
        if message.type in {"error", "warning"}:
            complain(f"{page.url} said: {message.text}")

    def failed(error: Error) -> None:
        complain(f"{page.url} raised: {error}")

    def requested(request: Request) -> None:
        if not request.url.startswith((f"{visitor.site}/", "data:")):
            complain(f"{page.url} asked {request.url}")

    def answered(response: Response) -> None:
        if response.status >= 400:
            complain(f"{response.url} answered {response.status}")

    page.on("console", heard)
    page.on("pageerror", failed)
    page.on("request", requested)
    page.on("response", answered)


@contextmanager
def visiting(
    browser: Browser,
    site: Installation,
    *,
    width: int = 1280,
    height: int = 900,
    theme: Literal["light", "dark"] = "light",
    language: str = "en-US",
    zone: str = "Asia/Shanghai",
) -> Iterator[Visitor]:
    """A visitor with a fresh browser profile; if the block ends well, nothing may have gone wrong on the pages."""
    context: BrowserContext = browser.new_context(
        viewport={"width": width, "height": height}, color_scheme=theme, locale=language, timezone_id=zone
    )
    try:
        context.add_init_script(VIOLATIONS)
        context.set_default_timeout(PATIENCE)
        expect.set_options(timeout=PATIENCE)  # it does not heed the context's
        credentials = json.loads((site.var / "demo-credentials.json").read_text(encoding="utf-8"))
        visitor = Visitor(context.new_page(), f"http://127.0.0.1:{site.environment['PORT']}", credentials)
        _watch(visitor)
        yield visitor
        assert not visitor.complaints, "\n".join(visitor.complaints)
    finally:
        context.close()
