"""A request body of unknown length is read to its end, up to the limit that holds for all bodies."""

import json
import socket
from collections.abc import Iterator

import pytest

from tests.browser.serving import served
from tests.e2e.installation import Installation
from tests.servers import free_port

pytestmark = pytest.mark.long

MEGABYTE = b"a" * 1024 * 1024
USER = "from idcsched.accounts.services import user_create; user_create(username='root', role='admin')"


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    """An empty installation."""
    found = Installation(tmp_path_factory.mktemp("unsized"), PORT=str(free_port()))
    found.migrate()
    found.python(USER)
    with served(found):
        yield found


@pytest.fixture(scope="module")
def token(site: Installation) -> str:
    return site.manage("token_create", "root", "test").strip()


def sent(site: Installation, token: str, *chunks: bytes) -> tuple[int, dict[str, str]]:
    """Send a region in these chunks; return the status and the document of the answer."""
    head = (
        f"POST /api/v1/regions/ HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
        "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", int(site.environment["PORT"])), timeout=30) as connection:
        connection.sendall(head.encode())
        for chunk in (*chunks, b""):
            connection.sendall(f"{len(chunk):x}\r\n".encode() + chunk + b"\r\n")
        answer = connection.makefile("rb").read()
    first, _, rest = answer.partition(b"\r\n")
    return int(first.split()[1]), json.loads(rest.partition(b"\r\n\r\n")[2])


def test_it_works(site: Installation, token: str) -> None:
    status, document = sent(site, token, b'{"code"', b': "', b"R", b'"}')

    assert (status, document["code"]) == (201, "R")


def test_a_body_of_no_chunk_is_empty(site: Installation, token: str) -> None:
    status, document = sent(site, token)

    assert (status, document["code"]) == (400, "required")


def test_what_is_too_large_is_refused(site: Installation, token: str) -> None:
    status, document = sent(site, token, *[MEGABYTE] * 5, b"a")  # no byte more, or it may be refused while we send

    assert (status, document["code"]) == (413, "body_too_large")
