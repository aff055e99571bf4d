"""`python -m bench.console`: what the console costs over 1,000 IDCs; figures in var/console.json.

A first visit to the overview with all its files, what its polls cost, and what twenty open tabs take of a processor and
of the rate at which recommendations are answered meanwhile.
"""

import json
import re
import statistics
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection
from pathlib import Path
from time import monotonic, sleep
from typing import Any
from urllib.parse import urljoin, urlsplit

from bench.asked import ISPS
from bench.calling import Api
from bench.measuring import machine, rounded
from bench.processes import family, worked
from bench.scaling import TICKS
from bench.serving import Server, served
from idcsched.framework.capacity import BANDWIDTH

__all__ = ["RESULT", "main"]

RESULT = Path("var/console.json")
IDCS, TABS, TIMES, ROUNDS = 1000, 20, 20, 3
EVERY = 3.0
"""Seconds between two polls of a tab."""
CHANGES_EVERY = 15.0
WATCHED = 30.0
OVERVIEW = "/console/"
FILE = re.compile(r"""(?:href|src)="(/static/[^"#]+)""")
PART = re.compile(r"""url\(["']?([^"')#:]+)["']?\)""")
POLL = re.compile(r"""id="live" hx-get="([^"]+)""")


class Browser:
    """A browser that is logged in, over one connection that is kept open."""

    def __init__(self, server: Server) -> None:
        self._connection = HTTPConnection(urlsplit(server.address).netloc, timeout=60)
        self._headers = {"Cookie": f"sessionid={server.session}"}

    def get(self, path: str, **headers: str) -> tuple[int, bytes]:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        self._connection.request("GET", path, headers=self._headers | named)
        response = self._connection.getresponse()
        return response.status, response.read()

    def page(self, path: str) -> str:
        status, body = self.get(path)
        assert status == 200, (path, status, body[:500])
        return body.decode()

    def size(self, path: str) -> int:
        """Bytes on the wire, compressed as browsers ask for it."""
        status, body = self.get(path, Accept_Encoding="gzip, br")
        assert status == 200, (path, status)
        return len(body)


def visit(server: Server) -> dict[str, float]:
    """The overview on a server that is warm, and all that a first visit loads."""
    browser = Browser(server)
    page = browser.page(OVERVIEW)
    files = {path.replace("&amp;", "&") for path in FILE.findall(page)}
    files |= {
        urljoin(path, part) for path in files if path.endswith(".css") for part in PART.findall(browser.page(path))
    }
    api, taken, polled, unchanged = Api(server.address, server.token), [], [], []
    for turn in range(TIMES):
        measure(api, turn)
        taken.append(_seconds(browser, OVERVIEW))
        measure(api, turn + TIMES)
        poll = poll_of(page)
        polled.append(_seconds(browser, poll, HX_Request="true"))
        page = browser.page(OVERVIEW)
        unchanged.append(_seconds(browser, poll_of(page), HX_Request="true"))
    api.close()
    return {
        "page_ms": statistics.median(taken) * 1e3,
        "page_kb": browser.size(OVERVIEW) / 1e3,
        "files_kb": sum(browser.size(path) for path in files) / 1e3,
        "poll_ms": statistics.median(polled) * 1e3,
        "unchanged_ms": statistics.median(unchanged) * 1e3,
    }


def measure(api: Api, turn: int) -> None:
    """Give a line another value, so that the fleet has to be drawn anew."""
    value = 50_000.0 + 100 * (turn % 50)  # above the percentile, which would count instead
    api.call("POST", "/samples/", [{"idc": "idc-00000", "line": ISPS[0], "metric": BANDWIDTH, "value": value}])


def poll_of(page: str) -> str:
    found = POLL.search(page)
    assert found, page[:500]
    return found[1].replace("&amp;", "&")


def _seconds(browser: Browser, path: str, **headers: str) -> float:
    begun = monotonic()
    status, _body = browser.get(path, **headers)
    assert status in {200, 204}, (path, status)
    return monotonic() - begun


@contextmanager
def tabs(server: Server, count: int) -> Iterator[None]:
    """So many tabs with the overview, each polling as the page does, while a line's use changes now and then."""
    ended = threading.Event()

    def tab(number: int) -> None:
        ended.wait(EVERY * number / count)
        browser, path = Browser(server), OVERVIEW
        while not ended.wait(EVERY):
            status, body = browser.get(path, **({} if path == OVERVIEW else {"HX_Request": "true"}))
            if status == 200:  # and not 204, as before, or 503, too busy
                path = poll_of(body.decode())

    def changes() -> None:
        api, turn = Api(server.address, server.token), 0
        while not ended.wait(CHANGES_EVERY):
            turn += 1
            measure(api, turn)
        api.close()

    threads = [threading.Thread(target=tab, args=(number,)) for number in range(count)]
    threads.append(threading.Thread(target=changes))
    for thread in threads:
        thread.start()
    try:
        sleep(3 * EVERY)  # all have their first page behind them
        yield
    finally:
        ended.set()
        for thread in threads:
            thread.join()


def taken(server: Server) -> float:
    """The share of a processor that web processes have for a while."""
    begun, before = monotonic(), _worked(server)
    sleep(WATCHED)
    return (_worked(server) - before) / TICKS / (monotonic() - begun)


def _worked(server: Server) -> int:
    return sum(worked(pid) for pid in family(server.process))


def main() -> int:
    with served(IDCS, record=True) as server:
        found: dict[str, Any] = {"machine": machine(), "overview": {}, "tabs": {"number": TABS}}
        server.recommends(1)
        visit(server)  # the first renders templates
        found["overview"] = {name: rounded(value) for name, value in visit(server).items()}
        idle = taken(server)
        rates: dict[int, list[float]] = {0: [], TABS: []}
        with tabs(server, TABS):
            found["tabs"]["of_a_processor"] = rounded(taken(server) - idle)
        for _ in range(ROUNDS):
            rates[0].append(server.recommends(1).p50_ms)
            with tabs(server, TABS):
                rates[TABS].append(server.recommends(1).p50_ms)
        found["tabs"]["recommendation_takes"] = rounded(min(rates[TABS]) / min(rates[0]))
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    print(json.dumps(found, indent=1))
    return 0


if __name__ == "__main__":
    sys.exit(main())
