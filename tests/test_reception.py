"""One thread receives all requests, and none that waits keeps the others waiting; by granian itself."""

import hashlib
import json
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from time import sleep
from typing import Any

import pytest

from idcsched.demo.processes import Child, start, stop
from idcsched.reception import LARGE_AT_ONCE
from tests.architecture.repository import ROOT
from tests.e2e.installation import wait_for
from tests.servers import free_port

APPLICATION = """
import hashlib, json, os, threading, time
from idcsched import reception
from idcsched.at_once import answering_at_once, may_wait
from idcsched.reception import Reception

reception.READ_WITHIN = float(os.environ.get("READ_WITHIN", reception.READ_WITHIN))
TOLD = ("REQUEST_METHOD", "PATH_INFO", "QUERY_STRING", "CONTENT_TYPE", "CONTENT_LENGTH", "REMOTE_ADDR",
        "SERVER_PROTOCOL", "wsgi.url_scheme", "HTTP_A", "HTTP_X_FORWARDED_FOR", "HTTP_COOKIE", "HTTP_HOST",
        "HTTP_" + "B" * 200)

class Pieces:
    streaming = True
    def __iter__(self):
        for number in range(64):
            yield b"%05d" % number * 10_000
    def close(self):
        closed.append(threading.current_thread().name)

closed, taken = [], []

def application(environ, start_response):
    path = environ["PATH_INFO"]
    if path.startswith("/waits"):
        may_wait()
    if path == "/sleeps":
        time.sleep(float(environ["QUERY_STRING"]))
    if path == "/held":
        while not os.path.exists(environ["QUERY_STRING"]):
            time.sleep(0.05)
    if path == "/taken":
        taken.append(path)
    if path == "/fails":
        raise ValueError("a bug")
    headers = [("Content-Type", "application/json")]
    if path == "/pieces":
        start_response("200 OK", headers)
        return Pieces()
    body = environ["wsgi.input"].read()
    told = {name: environ.get(name) for name in TOLD} | {
        "thread": threading.current_thread().name, "at_once": answering_at_once(), "closed": closed, "taken": taken,
        "body": hashlib.sha256(body).hexdigest(), "read": len(body),
    }
    start_response("207 Multi-Status", headers)
    return [json.dumps(told).encode()]

def at_once(environ):
    return environ["PATH_INFO"].startswith(("/at_once", "/waits"))

application = Reception(application, at_once=at_once, threads=2, most=3_000_000)
"""
FEW = 2


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reception")


def started(folder: Path, port: int, **environment: str) -> Child:
    (folder / "received.py").write_text(APPLICATION)
    options = [
        "--interface",
        "rsgi",
        "--host",
        "127.0.0.1",
        "--port",
        str(port),
        "--no-ws",
        "--workers-kill-timeout",
        "20",
    ]
    command = [sys.executable, "-m", "granian", *options, "received:application"]
    environment |= {"PYTHONPATH": f"{ROOT}:{folder}", "PATH": "/usr/bin:/bin"}
    child = start("web", command, log=folder / f"web-{port}.log", folder=folder, environment=environment)
    wait_for(lambda: not child.running or listens(port), "granian")
    assert child.running, child.last_words()
    return child


def listens(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=1).close()
    except OSError:
        return False
    return True


@pytest.fixture(scope="module")
def port(folder: Path) -> Iterator[int]:
    port = free_port()
    child = started(folder, port)
    yield port
    stop(child, grace=20)


def answered(port: int, method: str, path: str, body: Any = None, **headers: str) -> HTTPResponse:
    connection = HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    response = connection.getresponse()
    response.content = response.read()  # type: ignore[attr-defined]
    connection.close()
    return response


def told(port: int, method: str, path: str, body: Any = None, **headers: str) -> dict[str, Any]:
    response = answered(port, method, path, body, **headers)
    assert response.status == 207
    found: dict[str, Any] = json.loads(response.content)  # type: ignore[attr-defined]
    return found


def said(port: int, sent: bytes) -> dict[str, Any]:
    """What is answered to a request that no well-mannered client would send."""
    with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as connection:
        connection.sendall(sent)
        response = HTTPResponse(connection)
        response.begin()
        found: dict[str, Any] = json.loads(response.read())
    return found


def test_it_works(port: int) -> None:
    found = told(port, "POST", "/at_once/%C3%A9?a=%20b", b"{}", content_type="application/json")
    assert (found["at_once"], found["thread"]) == (True, "MainThread")
    assert found["PATH_INFO"].encode("latin-1").decode() == "/at_once/é"
    assert (found["REQUEST_METHOD"], found["QUERY_STRING"], found["read"]) == ("POST", "a=%20b", 2)
    assert (found["CONTENT_TYPE"], found["CONTENT_LENGTH"]) == ("application/json", "2")
    assert (found["REMOTE_ADDR"], found["SERVER_PROTOCOL"], found["wsgi.url_scheme"]) == (
        "127.0.0.1",
        "HTTP/1.1",
        "http",
    )
    assert found["HTTP_HOST"] == f"127.0.0.1:{port}"


def test_other_requests_are_answered_by_threads_that_may_wait(port: int) -> None:
    found = told(port, "GET", "/")
    assert found["at_once"] is False
    assert found["thread"].startswith("answering")


def test_what_turns_out_to_wait_is_asked_again_in_such_a_thread_with_its_body(port: int) -> None:
    found = told(port, "POST", "/waits", b"once")
    assert found["thread"].startswith("answering")
    assert found["body"] == hashlib.sha256(b"once").hexdigest()


@pytest.mark.parametrize("size", [0, 1, 64 * 1024, 64 * 1024 + 1, 3_000_000])
@pytest.mark.parametrize("chunked", [False, True])
def test_bodies_arrive_whole(size: int, chunked: bool, port: int) -> None:
    body = bytes(number % 251 for number in range(size))
    sent = (body[start : start + 10_000] for start in range(0, size, 10_000)) if chunked else body
    found = told(port, "POST", "/", sent)
    assert (found["read"], found["CONTENT_LENGTH"]) == (size, str(size))
    assert found["body"] == hashlib.sha256(body).hexdigest()


def test_of_a_longer_body_no_more_is_kept_than_shows_that_it_is_longer(port: int) -> None:
    found = said(port, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 3100000\r\n\r\n" + bytes(3_100_000))
    assert found["read"] == 3_000_001
    assert found["CONTENT_LENGTH"] == "3100000"


def test_headers_that_come_twice_are_kept_and_false_names_are_not(port: int) -> None:
    twice = b"A: 1\r\nA: 2\r\nCookie: a=1\r\nCookie: b=2\r\n"
    found = said(port, b"GET / HTTP/1.1\r\nHost: a\r\n" + twice + b"X_Forwarded_For: 10.0.0.1\r\n\r\n")
    assert (found["HTTP_A"], found["HTTP_COOKIE"], found["HTTP_X_FORWARDED_FOR"]) == ("1,2", "a=1; b=2", None)


def test_a_header_of_any_name_is_there(port: int) -> None:
    found = said(port, b"GET / HTTP/1.1\r\nHost: a\r\n" + b"b" * 200 + b": 1\r\n\r\n")
    assert found["HTTP_" + "B" * 200] == "1"


def test_a_header_that_can_not_be_read_is_there_all_the_same(port: int) -> None:
    found = said(port, b"GET / HTTP/1.1\r\nHost: a\r\nA: \xe8\xae\xa2\r\nCookie: a=1\r\nCookie: b=2\r\n\r\n")
    assert (found["HTTP_A"], found["HTTP_COOKIE"]) == ("\xff", "a=1; b=2")


def test_nobody_waits_for_those_who_wait(port: int, tmp_path: Path) -> None:
    with ThreadPoolExecutor(2 * FEW) as clients:
        waiting = [clients.submit(told, port, "GET", f"/held?{tmp_path}/go") for _ in range(2 * FEW)]
        sleep(0.5)
        assert told(port, "POST", "/at_once", b"{}")["at_once"] is True
        assert not any(each.done() for each in waiting)
        (tmp_path / "go").touch()
        for each in waiting:
            each.result()


@pytest.mark.parametrize("length", [b"100", b"1000000"])
def test_nobody_waits_for_clients_that_send_slowly(length: bytes, port: int) -> None:
    head = b"POST / HTTP/1.1\r\nHost: a\r\nConnection: close\r\nContent-Length: " + length + b"\r\n\r\nbegun"
    slow = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(3 * LARGE_AT_ONCE)]
    for connection in slow:
        connection.sendall(head)
    assert told(port, "POST", "/", b"{}")["read"] == 2
    assert told(port, "POST", "/", bytes(100_000))["read"] == 100_000
    assert told(port, "POST", "/", iter([b"{", b"}"]))["read"] == 2
    assert told(port, "POST", "/at_once", b"{}")["at_once"] is True
    for connection in slow:
        connection.close()


@pytest.mark.parametrize("sent", [b"", bytes(70_000)], ids=["nothing", "a large part"])
@pytest.mark.parametrize("length", [b"100", b"1000000"])
def test_who_goes_on_sending_nothing_is_let_go(length: bytes, sent: bytes, folder: Path) -> None:
    port = free_port()
    child = started(folder, port, READ_WITHIN="0.5")
    slow = [socket.create_connection(("127.0.0.1", port), timeout=60) for _ in range(LARGE_AT_ONCE)]
    for connection in slow:
        connection.sendall(
            b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + b"\r\n\r\n" + sent[: int(length) // 2]
        )
    for connection in slow:
        assert connection.recv(12) == b"HTTP/1.1 408"
        connection.close()
    assert told(port, "POST", "/", bytes(100_000))["read"] == 100_000
    stop(child, grace=20)


def test_what_takes_long_to_read_is_answered_by_threads_that_may_wait(port: int) -> None:
    assert told(port, "POST", "/at_once", bytes(64 * 1024))["at_once"] is True
    assert told(port, "POST", "/at_once", bytes(64 * 1024 + 1))["at_once"] is False


@pytest.mark.parametrize("length", [b"100", b"1000000"])
def test_a_body_that_breaks_off_is_nobodys_request(length: bytes, port: int, folder: Path) -> None:
    with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as connection:
        connection.sendall(b"POST /taken HTTP/1.1\r\nHost: a\r\nContent-Length: " + length + b"\r\n\r\nhalf")
        sleep(0.2)
    sleep(0.2)
    assert told(port, "GET", "/")["taken"] == []
    assert "RSGIProtocolClosed" not in (folder / f"web-{port}.log").read_text()


def test_an_answer_of_unknown_length_is_sent_in_pieces(port: int) -> None:
    response = answered(port, "GET", "/pieces")
    content: bytes = response.content  # type: ignore[attr-defined]
    assert response.headers["Transfer-Encoding"] == "chunked"
    assert content == b"".join(b"%05d" % number * 10_000 for number in range(64))
    wait_for(lambda: told(port, "GET", "/")["closed"], "the pieces to be closed")
    assert all(name.startswith("answering") for name in told(port, "GET", "/")["closed"])


def test_who_goes_away_in_the_middle_of_one_keeps_no_thread(port: int) -> None:
    for _ in range(2 * FEW):
        with closing(socket.create_connection(("127.0.0.1", port), timeout=60)) as connection:
            connection.sendall(b"GET /pieces HTTP/1.1\r\nHost: a\r\n\r\n")
            connection.recv(1)
    assert told(port, "GET", "/")["at_once"] is False


def test_a_bug_is_an_answer(port: int, folder: Path) -> None:
    assert answered(port, "GET", "/fails").status == 500
    assert told(port, "GET", "/")["read"] == 0
    assert "ValueError: a bug" in (folder / f"web-{port}.log").read_text()


def test_what_is_being_answered_is_answered_before_the_end(folder: Path) -> None:
    port = free_port()
    child = started(folder, port)
    with ThreadPoolExecutor(2) as clients:
        waiting = [clients.submit(told, port, "GET", "/sleeps?2") for _ in range(2)]
        sleep(0.5)
        stop(child, grace=20)
        assert [each.result()["read"] for each in waiting] == [0, 0]
