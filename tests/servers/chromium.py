"""A browser to look at the pages with."""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from playwright.sync_api import Browser, Error, sync_playwright

from tests.servers import Unavailable, debian

__all__ = ["available", "running"]

FLAGS = ("--disable-dev-shm-usage", "--disable-gpu")  # containers have little shared memory, and no screen


@contextmanager
def available() -> Iterator[str]:
    """The program named by TEST_CHROMIUM, else Debian's, installed if it is missing; raises Unavailable."""
    found = os.environ.get("TEST_CHROMIUM") or shutil.which("chromium")
    if found is None:
        debian.install("chromium")
    yield found or "/usr/bin/chromium"


@contextmanager
def running() -> Iterator[Browser]:
    """A browser without a window, for as long as the block lasts; raises Unavailable."""
    flags = [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else [*FLAGS]  # root has no sandbox
    with available() as program, sync_playwright() as playwright:
        try:
            browser = playwright.chromium.launch(executable_path=program, args=flags)
        except Error as error:
            raise Unavailable(f"chromium does not start: {error.message}") from None
        with browser:
            yield browser
