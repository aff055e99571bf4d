"""The demo, served by one web process: what a browser needs of it."""

from collections.abc import Iterator
from contextlib import contextmanager
from urllib.error import URLError
from urllib.request import urlopen

from idcsched.demo.processes import stop
from idcsched.demo.supervisor import web_command
from tests.e2e.installation import Installation, wait_for

__all__ = ["served", "serving", "sources_made"]

SOURCES = "from idcsched.demo.sources import sources_point_to; sources_point_to('http://127.0.0.1:{port}')"


@contextmanager
def serving(site: Installation) -> Iterator[Installation]:
    """Load the demo and serve it on the installation's port for as long as the block lasts."""
    site.migrate()
    site.manage("load_demo")
    with served(site):
        yield site


@contextmanager
def served(site: Installation) -> Iterator[Installation]:
    """The same of whatever is there already."""
    web = site.start("web", *web_command(port=int(site.environment["PORT"])))
    try:
        wait_for(lambda: not web.running or _answers(site), "the web server", seconds=120)
        assert web.running, web.last_words()
        yield site
    finally:
        stop(web, grace=20)


def _answers(site: Installation) -> bool:
    try:
        with urlopen(f"http://127.0.0.1:{site.environment['PORT']}/health/ready/", timeout=30) as response:
            return bool(response.status == 200)
    except (URLError, OSError):
        return False


def sources_made(site: Installation) -> None:
    """Have the demo's sources ask the installation itself, as `make run` does."""
    site.python(SOURCES.format(port=site.environment["PORT"]))
