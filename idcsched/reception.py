"""Where requests arrive: what is answered at once is answered here, all else by one of a few threads.

One thread receives everything (granian's event loop). Bodies are read as they come in, so that a slow client holds
up nobody. Then a request is a call of a WSGI application like any other. A recommendation computes for a fraction of a
millisecond and asks nobody: the receiving thread answers it itself, and no two threads take the interpreter's lock
from each other. Whatever may wait for a database or another server is called in a thread of a pool, and keeps nobody
else waiting; so recommendations and `/health/live/` are answered even where all of the pool waits for a database that
hangs.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import AsyncExitStack, suppress
from http import HTTPStatus
from io import BytesIO
from typing import Any, Final, NamedTuple

from granian.rsgi import ProtocolClosed  # type: ignore[attr-defined]  # public, but not by the checker's rules
from prometheus_client import Gauge

from idcsched.at_once import Waits, nobody_waits
from idcsched.environs import Environ, environ_of

__all__ = ["Application", "Reception"]

logger = logging.getLogger(__name__)

Application = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]

SMALL: Final = 64 * 1024
"""Bytes of a body that anybody may send at any time, and of an answer's piece."""
LARGE_AT_ONCE: Final = 8
"""So many requests of whose larger bodies a part has arrived are received or worked on at a time."""
READ_WITHIN: Final = 60.0
"""Seconds that a body may take to arrive."""
WHOLE: Final = 1024 * 1024
"""Bytes of an answer that is sent in one piece."""

in_threads = Gauge(
    "idcsched_requests_in_threads",
    "Requests that a thread answers which may wait, or that wait for such a thread.",
    multiprocess_mode="livesum",
)


class _Answer(NamedTuple):
    """What is sent: status, headers, and the body unless it was sent piece by piece."""

    status: int
    headers: list[tuple[str, str]]
    body: bytes | None


class Reception:
    """An RSGI application in front of a WSGI one.

    `at_once`: which requests may be answered by the thread that receives them, unless it turns out that they wait;
    `threads`: how many answer all others; `most`: bytes of the longest body that anything behind it would read.
    """

    def __init__(
        self, application: Application, *, at_once: Callable[[Environ], bool], threads: int, most: int
    ) -> None:
        self._application, self._at_once, self._most = application, at_once, most
        self._pool = ThreadPoolExecutor(threads, thread_name_prefix="answering")
        self._large = asyncio.Semaphore(LARGE_AT_ONCE)

    async def __rsgi__(self, scope: Any, protocol: Any) -> None:
        environ = environ_of(scope)
        length = _length(environ)
        with suppress(ProtocolClosed):  # whoever asked has gone away
            if length is None or length > SMALL:
                async with AsyncExitStack() as held:
                    body = await _in_time(self._received(protocol, held), protocol)
                    if body is None or len(body) < min(length or 0, self._most):  # it broke off: nobody is there
                        return
                    environ.setdefault("CONTENT_LENGTH", str(len(body)))
                    await self._answered(environ, body, protocol)
            else:
                body = await _in_time(protocol(), protocol) if length else b""
                if body is not None:
                    await self._answered(environ, body, protocol)

    def __rsgi_del__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._pool.shutdown(wait=False)

    async def _received(self, protocol: Any, held: AsyncExitStack) -> bytes:
        """A body that is large, or of which nobody says how long it is, up to a length.

        It takes one of few places, which is `held`, when it has turned out to be large: who sends nothing takes none.
        """
        body, large = bytearray(), False
        async for piece in protocol:
            body += piece
            if len(body) > SMALL and not large:
                await held.enter_async_context(self._large)
                large = True
            if len(body) > self._most:
                break
        return bytes(body[: self._most + 1])

    async def _answered(self, environ: Environ, body: bytes, protocol: Any) -> None:
        environ["wsgi.input"] = BytesIO(body)
        soon = len(body) <= SMALL and self._at_once(environ)  # decoding megabytes takes a second
        answer = self._answer_at_once(environ) if soon else None
        if answer is None:
            environ["wsgi.input"] = BytesIO(body)
            with in_threads.track_inprogress():
                loop = asyncio.get_running_loop()
                answer = await loop.run_in_executor(self._pool, self._answer, environ, _Pieces(protocol, loop))
        if answer.body is not None:
            protocol.response_bytes(*answer)

    def _answer_at_once(self, environ: Environ) -> _Answer | None:
        """None where it takes a thread that may wait."""
        try:
            with nobody_waits():
                return self._answer(environ)
        except Waits:
            return None

    def _answer(self, environ: Environ, pieces: "_Pieces | None" = None) -> _Answer:
        started = _Started()
        try:
            response = self._application(environ, started)
        except Exception:
            logger.exception("the application failed at %s %s", environ["REQUEST_METHOD"], environ["PATH_INFO"])
            return _Answer(HTTPStatus.INTERNAL_SERVER_ERROR, [], b"")
        try:
            if pieces is None or started.short or not getattr(response, "streaming", True):
                return _Answer(started.status, started.headers, b"".join(response))
            pieces.send(started, response)
            return _Answer(started.status, started.headers, None)
        finally:
            if (close := getattr(response, "close", None)) is not None:
                close()


class _Started:
    """WSGI's `start_response`."""

    __slots__ = ("headers", "status")

    status: int
    headers: list[tuple[str, str]]

    def __call__(self, status: str, headers: list[tuple[str, str]], exc_info: object = None) -> None:
        self.status, self.headers = int(status[:3]), headers

    @property
    def short(self) -> bool:
        """Whether the body is known to be of a length that is sent in one piece."""
        length = next((value for name, value in self.headers if name.lower() == "content-length"), "")
        return length.isdecimal() and int(length) <= WHOLE


class _Pieces:
    """Sends an answer whose length nobody knows piece by piece, from the thread that makes it."""

    def __init__(self, protocol: Any, loop: asyncio.AbstractEventLoop) -> None:
        self._protocol, self._loop = protocol, loop

    def send(self, started: _Started, pieces: Iterable[bytes]) -> None:
        transport = self._protocol.response_stream(started.status, started.headers)
        waiting = bytearray()
        for piece in pieces:
            waiting += piece
            if len(waiting) >= SMALL:
                self._sent(transport, bytes(waiting))
                waiting.clear()
        if waiting:
            self._sent(transport, bytes(waiting))

    def _sent(self, transport: Any, piece: bytes) -> None:
        asyncio.run_coroutine_threadsafe(_sent(transport, piece), self._loop).result()


async def _in_time(receiving: Awaitable[bytes], protocol: Any) -> bytes | None:
    """None: it took too long, which is said."""
    try:
        async with asyncio.timeout(READ_WITHIN):
            return await receiving
    except TimeoutError:
        protocol.response_empty(HTTPStatus.REQUEST_TIMEOUT, [("connection", "close")])
        return None


async def _sent(transport: Any, piece: bytes) -> None:
    await transport.send_bytes(piece)


def _length(environ: Environ) -> int | None:
    """How long the body is said to be; None where there is one and nobody says."""
    length = environ.get("CONTENT_LENGTH", "")
    if length.isdecimal():
        return int(length)
    streamed = "HTTP_TRANSFER_ENCODING" in environ or environ["SERVER_PROTOCOL"] > "HTTP/1.1"
    return None if streamed and environ["REQUEST_METHOD"] not in ("GET", "HEAD", "OPTIONS") else 0
