"""The load of a steady run: each request when it is due; what piled up while disturbed is dropped and counted."""

from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from time import monotonic

import pytest

from bench.course import Course
from bench.serving import Server
from bench.steady import PORTALS, Log, _overdue, _portal
from bench.timeline import Answer, Mark
from tests.bench.times import CALM, STOLEN, Shares, marks
from tests.e2e.installation import wait_for

RATE = 50.0 * PORTALS


class Held(ThreadingHTTPServer):
    """A web server that answers only when the test lets it."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Answering)
        self.may = Event()
        self.asked = 0


class Answering(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Held

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.server.asked += 1
        self.server.may.wait(600)
        body = b'{"decision_id": "one"}'
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Log nothing."""


@contextmanager
def held() -> Iterator[tuple[Held, Server]]:
    with Held() as web:
        serving = Thread(target=web.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        try:
            yield web, Server(f"http://127.0.0.1:{web.server_port}", "token", Path(), 0)
        finally:
            web.may.set()
            web.shutdown()
            serving.join()


@contextmanager
def asking(server: Server) -> Iterator[Log]:
    """Run one portal of eight until the end of the block; yield its log."""
    log, stop = Log(Course(wanted=600, longest=1800, marks=marks(CALM)[:1]), monotonic()), Event()
    portal = Thread(target=_portal, args=(RATE, 3, server, log, stop))
    portal.start()
    try:
        yield log
    finally:
        stop.set()
        portal.join()


def end(log: Log, shares: Shares) -> None:
    """End a stretch now, in which this share of the time was taken."""
    _, told = marks(shares)
    log.course.mark(Mark(log.now, told.spent), [])


def test_it_works() -> None:
    with held() as (web, server), asking(server) as log:
        web.may.set()
        wait_for(lambda: len(log.latencies) > 5, "answers")
        end(log, CALM)

    assert (log.dropped, log.failures) == ([], [])
    due = sorted(answer.due for answer in log.latencies + log.waiting)
    assert due == pytest.approx([(3 + turn * PORTALS) / RATE for turn in range(len(due))]), "every turn, once"
    assert len(log.decisions) == len(log.latencies)


def test_what_piled_up_in_a_disturbed_stretch_is_dropped() -> None:
    with held() as (web, server), asking(server) as log:
        wait_for(lambda: web.asked == 1 and log.now > 0.2, "a backlog")
        end(log, STOLEN)
        afresh = log.course.afresh
        web.may.set()
        wait_for(lambda: len(log.latencies) > 5, "answers")
        end(log, CALM)

    first, *later = log.latencies
    assert first.due + first.took >= afresh, "what was under way is waited for"
    assert min(answer.due for answer in later) >= afresh
    assert len(log.dropped) == len([turn for turn in range(1, 100_000) if (3 + turn * PORTALS) / RATE < afresh])
    assert all(dropped.due + dropped.took == pytest.approx(afresh) for dropped in log.dropped), "it has waited so long"


def test_what_piled_up_where_nothing_was_taken_is_sent() -> None:
    with held() as (web, server), asking(server) as log:
        wait_for(lambda: web.asked == 1 and log.now > 0.2, "a backlog")
        end(log, CALM)
        web.may.set()
        wait_for(lambda: len(log.latencies) > 10, "answers")

    assert log.dropped == []
    assert log.latencies[1].took > 0.1, "late by what it had to wait for the one before it"


def test_what_was_due_and_not_even_sent_counts_with_what_it_has_waited() -> None:
    rate = 8 * PORTALS  # each portal asks every eighth of a second
    found = _overdue(10.0, 3 + 78 * PORTALS, rate)
    assert found == [
        pytest.approx(Answer(9.75 + 3 / rate, 0.25 - 3 / rate)),
        pytest.approx(Answer(9.875 + 3 / rate, 0.125 - 3 / rate)),
    ]
    assert _overdue(10.0, 80 * PORTALS, rate) == [], "it is due now, and not late"
