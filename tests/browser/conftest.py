"""The demo to visit with a browser."""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.serving import serving
from tests.browser.visiting import Visitor, visiting
from tests.e2e.installation import Installation
from tests.servers import free_port


@pytest.fixture(scope="session")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    folder = tmp_path_factory.mktemp("site")
    with serving(Installation(folder, PORT=str(free_port()), THROTTLE="off")) as found:
        yield found


@pytest.fixture
def visitor(browser: Browser, site: Installation) -> Iterator[Visitor]:
    """Somebody at a desk; whatever goes wrong on the pages fails the test."""
    with visiting(browser, site) as found:
        yield found
