"""The site that `make site` builds of the docs: it is whole, and loads nothing from anywhere else."""

import re
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from html.parser import HTMLParser
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from playwright.sync_api import Browser

from tests.architecture.repository import ROOT, files

LOADS = {"script": "src", "img": "src", "iframe": "src", "source": "src", "link": "href", "object": "data"}
MERELY_NAMED = {"next", "prev", "canonical"}
ELSEWHERE = re.compile(r"(?:https?:)?//", re.IGNORECASE)
STYLE_LOADS = re.compile(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", re.IGNORECASE)


class Loaded(HTMLParser):
    """The addresses that a page has a browser load, and those that it links to."""

    def __init__(self, page: Path) -> None:
        super().__init__()
        self.addresses: list[str] = []
        self.links: set[str] = set()
        self.feed(page.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = dict(attrs)
        address = found.get(LOADS.get(tag, "")) or ""
        if address and found.get("rel") not in MERELY_NAMED:
            self.addresses.append(address)
        if tag == "a":
            self.links.add((found.get("href") or "").partition("#")[0])


def built(folder: Path, *options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--site-dir", str(folder), *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    done = built(folder)
    assert done.returncode == 0, done.stderr
    return folder


@pytest.fixture
def address(site: Path) -> Iterator[str]:
    """Where a web server serves the site."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(site))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def test_it_works(address: str, browser: Browser) -> None:
    """A reader searches for a word and follows a result; the browser asks no other server for anything."""
    asked: list[str] = []
    with browser.new_page() as page:
        page.set_default_timeout(120_000)
        page.on("request", lambda request: asked.append(request.url))
        for word, heading in (("fourth peak", "Bandwidth figures"), ("污点", "Glossary")):
            page.goto(address)
            page.get_by_placeholder("Search").click()
            page.get_by_text("Type to start searching").wait_for()  # what is typed before goes unheard
            page.get_by_placeholder("Search").press_sequentially(word)
            page.keyboard.press("Shift")  # the page searches when a key goes up, which no Chinese character has here
            page.locator(".md-search-result__link", has_text=heading).first.click()
            page.get_by_role("heading", level=1, name=heading).wait_for()
    assert len(asked) > 10
    assert not [url for url in asked if not url.startswith((address, "data:", "blob:"))]


def test_no_page_loads_anything_from_elsewhere(site: Path) -> None:
    pages = {page: Loaded(page).addresses for page in site.rglob("*.html")}
    assert sum(map(len, pages.values())) > 100
    assert not [(page, address) for page, found in pages.items() for address in found if ELSEWHERE.match(address)]
    assert not [style for style in site.rglob("*.css") if STYLE_LOADS.search(style.read_text(encoding="utf-8"))]


def test_every_page_is_in_the_navigation(site: Path) -> None:
    expected = {page.relative_to(ROOT / "docs").with_suffix(".html").as_posix() for page in files("docs/*.md")}
    expected = {re.sub(r"README\.html$", "index.html", name) for name in expected}
    assert len(expected) > 40
    assert not expected - Loaded(site / "api.html").links - {"api.html"}


def test_a_page_that_is_not_in_the_navigation_fails_the_build(tmp_path: Path) -> None:
    config = tmp_path / "mkdocs.yml"
    hook = ROOT / "deploy" / "docs" / "linked_sources.py"
    config.write_text(f"INHERIT: {ROOT}/mkdocs.yml\ndocs_dir: {ROOT}/docs\nhooks: [{hook}]\nnav: [README.md]\n")
    done = built(tmp_path / "site", "--config-file", str(config))
    assert done.returncode != 0
    assert "quickstart.md" in done.stderr


def test_links_to_sources_lead_to_their_text(site: Path) -> None:
    link = "source/idcsched/framework/cycle.py.html"
    assert link in Loaded(site / "architecture.html").links
    assert "decide" in (site / link).read_text(encoding="utf-8")
    assert "](" not in (site / "source" / "CHANGELOG.md.html").read_text(encoding="utf-8")
