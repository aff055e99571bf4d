"""The demo to visit with a browser."""

from collections.abc import Iterator
from math import inf
from time import monotonic

import pytest
from playwright.sync_api import Browser

from tests.browser.serving import serving
from tests.browser.visiting import Visitor, visiting
from tests.e2e.installation import Installation
from tests.servers import free_port

FRESH = 180.0
"""For how many seconds measurements need not be brought up to date."""


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("site")
    with serving(Installation(folder, PORT=str(free_port()), THROTTLE="off")) as found:
        yield found


@pytest.fixture(scope="session")
def measured() -> dict[str, float]:
    """When the site's measurements were brought up to date."""
    return {"at": -inf}


@pytest.fixture
def visitor(browser: Browser, site: Installation, measured: dict[str, float]) -> Iterator[Visitor]:
    """A visitor with a browser; any error on a page fails the test.

    The measurements are brought up to date first: an IDC with none of the last quarter of an hour gets no orders.
    """
    if monotonic() - measured["at"] > FRESH:
        site.manage("load_demo", "--if-empty")
        measured["at"] = monotonic()
    with visiting(browser, site) as found:
        yield found
