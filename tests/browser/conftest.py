"""A browser, and the demo to visit with it."""

import os
from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser

from tests.browser.serving import serving
from tests.browser.visiting import Visitor, visiting
from tests.e2e.installation import Installation
from tests.servers import Unavailable, chromium, free_port


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"  # Playwright leaves an event loop running in this process
    try:
        with chromium.running() as found:
            yield found
    except Unavailable as error:
        pytest.skip(str(error))


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
