"""The addresses of all pages of the console, by their names in the URLs."""

import json
import re

from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from tests.browser.serving import backtest_made, names_made
from tests.browser.visiting import Visitor
from tests.e2e.installation import Installation

__all__ = ["console_pages", "grave_violations"]

ROUTES = (
    "import json; from idcsched.console.urls import urlpatterns;"
    "print(json.dumps({route.name: str(route.pattern) for route in urlpatterns}))"
)
ORDER = {"region": "440000", "request_id": "order-770", "machines": [{"count": 4, "bandwidth_mbps": 100}]}
PARTS = {"theme", "bills", "changes", "wrong", "moves_file", "backtest_file", "taint_undo", "suggestions"}
"""What answers forms, shows parts of pages or is a file, and is no page."""
CODES = {"idc": "gz-ct-cu-cm-01", "taint_idc": "gz-ct-cu-cm-01", "profile": "default", "source": "demo-lines"}
QUERIES = {
    "search": "?q=gz",
    "try": "?region=440000&isp=ct&count=4&bandwidth_mbps=100",
    "profile": "?preview=1",
    "replay": "?data=now",
    "taint": "?idc=gz-ct-cu-cm-01&idc=foshan-ct-01&key=drill&ends=2099-01-01T00:00",
}


def _routes(site: Installation) -> dict[str, str]:
    """Return the routes of all pages by their names."""
    routes: dict[str, str] = json.loads(site.python(ROUTES))
    return {name: route for name, route in routes.items() if name not in PARTS}


def console_pages(visitor: Visitor, site: Installation) -> dict[str, str]:
    """Order something, have a backtest made and a source asked; return each page's address, with an example."""
    placed = visitor.schedule(**ORDER, action="reserve")
    decision, number = placed["decision_id"], ORDER["request_id"]
    examples = {
        **CODES,
        "backtest": backtest_made(site),
        "decision": decision,
        "replay": decision,
        "order": number,
        "placement": placed["id"],
        "source_names": names_made(site),
    }
    return {
        name: "/console/" + re.sub("<.*?>", str(examples.get(name, "")), route) + QUERIES.get(name, "")
        for name, route in _routes(site).items()
    }


def grave_violations(page: Page) -> list[tuple[str, list[str]]]:
    """Return the serious and critical violations of WCAG that axe finds, each with a few of their places."""
    violations = Axe().run(page).response["violations"]
    return [
        (violation["id"], [node["html"] for node in violation["nodes"]][:3])
        for violation in violations
        if violation["impact"] in {"serious", "critical"}
    ]
