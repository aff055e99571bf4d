"""A reader of a page: takes its samples one after the other and runs them against the live installation."""

import json
import os
import re
import shlex
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.client import HTTPConnection
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from tests.outbound.peers import closed_port
from tests.stories.product import Answer, Product, until

__all__ = ["AS_ON_THE_PAGE", "Reader", "Sample", "differs", "posted", "program", "samples"]

BLOCK = re.compile(
    r"^```(?P<language>\w*)\n(?P<text>.*?)^```$(?:\s+\*\*(?P<status>\d{3})\*\*$)?", re.MULTILINE | re.DOTALL
)
RUNS = ("sh", "http", "console", "python")
AS_ON_THE_PAGE = "http://127.0.0.1:8000"
SHOWS_STATUS = 'curl() { command curl -w "\\n%{http_code}\\n" "$@"; }\n'


@dataclass(frozen=True, slots=True)
class Sample:
    """A block that can be run, the status that the page announces (0: none), and the next block: its answer, maybe."""

    language: str
    text: str
    status: int
    following: str


def samples(page: str) -> list[Sample]:
    """All blocks of a page that are for a shell, for HTTP or for Python."""
    found = list(BLOCK.finditer(page))
    following = [*(block["text"] for block in found), ""][1:]
    return [
        Sample(block["language"], block["text"], int(block["status"] or 0), next_text)
        for block, next_text in zip(found, following, strict=True)
        if block["language"] in RUNS
    ]


@dataclass(slots=True)
class Reader:
    """Somebody who goes through a page with a shell, which has the variables `known` and stands in `folder`."""

    product: Product
    folder: Path
    left: list[Sample]
    known: dict[str, str] = field(default_factory=dict)

    def next(self, language: str) -> Sample:
        """The next sample of the page, which must be in that language."""
        sample = self.left.pop(0)
        assert sample.language == language, sample.text
        return sample

    def curl(self, **replaced: str) -> list[Any]:
        """Run the next sample in a shell; return the bodies that it fetched.

        Each answer must have the status that the page names, or a status of success if it names none.
        """
        sample = self.next("sh")
        text = _replaced(sample.text, {AS_ON_THE_PAGE: self.product.address, **replaced})
        done = subprocess.run(
            ["bash", "-euc", SHOWS_STATUS + text],
            env=os.environ | self.known,
            cwd=self.folder,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed = done.stdout.splitlines()
        answers = [
            Answer(int(status), json.loads(body or "null"), {})
            for body, status in zip(*[iter(printed)] * 2, strict=True)
        ]
        assert len(answers) == text.count("curl -")
        for answer in answers:
            assert answer.status == sample.status if sample.status else answer.status < 300, f"{text}\n{answer}"
        return [answer.body for answer in answers]

    def curl_as_shown(self) -> Any:
        """Run the next sample, which is one call, in a shell; its answer, which must be as the page shows it."""
        shown = json.loads(self.left[0].following)
        (answer,) = self.curl()
        assert not list(differs(shown, answer)), answer
        return answer

    def python(self) -> str:
        """Run the next sample, a whole program, with the variables of the shell; what it prints."""
        command = [sys.executable, "-c", self.next("python").text]
        environment = os.environ | self.known
        return subprocess.run(
            command, env=environment, cwd=self.folder, stdout=subprocess.PIPE, text=True, timeout=120, check=True
        ).stdout

    def manage(self, command: str, *, fails: bool = False, **replaced: str) -> str:
        """What a command of `manage.py` prints; where it must fail, what it complains of."""
        words = shlex.split(_replaced(command, replaced), comments=True)
        return self.product.command(*words[words.index("manage.py") + 1 :], fails=fails)


def differs(shown: Any, found: Any, at: str = "", *, values: bool = True) -> Iterator[str]:
    """Where an answer is not what is shown; the answer may have more fields. "…" stands for anything.

    Without `values` only names and types count, and lists may be shortened.
    """
    if shown == "…":
        return
    if isinstance(shown, dict) and isinstance(found, dict):
        for name, value in shown.items():
            if name != "…":
                yield from differs(value, found.get(name, "nothing"), f"{at}/{name}", values=values)
    elif isinstance(shown, list) and isinstance(found, list) and len(found) >= len(shown) > len(found) * values - 1:
        for index, (each, its) in enumerate(zip(shown, found, strict=values)):
            yield from differs(each, its, f"{at}/{index}", values=values)
    elif shown != found if values else type(shown) is not type(found):
        yield f"{at}: {found!r} instead of {shown!r}"


@contextmanager
def program(source: str, folder: Path, **environment: str) -> Iterator[tuple[str, Path]]:
    """A page's server, started on a port that is free instead of 9000; its address, and the file that it prints to."""
    port = closed_port()
    assert source.count("9000") == 1
    file, printed = folder / "program.py", folder / "printed"
    file.write_text(source.replace("9000", str(port)), encoding="utf-8")
    with (
        printed.open("wb") as output,
        subprocess.Popen(
            [sys.executable, str(file)], stdout=output, stderr=subprocess.DEVNULL, env=os.environ | environment
        ) as process,
    ):
        try:
            until(lambda: _listens(port), "the page's server", seconds=60)
            yield f"http://127.0.0.1:{port}", printed
        finally:  # else the end of the block would wait for the server for ever, and hide what failed
            process.terminate()


def posted(url: str, headers: dict[str, str], body: bytes) -> tuple[int, bytes]:
    """Status and body of the answer to a POST."""
    parts = urlsplit(url)
    connection = HTTPConnection(parts.hostname or "", parts.port, timeout=60)
    try:
        connection.request("POST", parts.path or "/", body, headers)
        response = connection.getresponse()
        return response.status, response.read()
    finally:
        connection.close()


def _listens(port: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex(("127.0.0.1", port)) == 0


def _replaced(text: str, replaced: dict[str, str]) -> str:
    for old, new in replaced.items():
        text = text.replace(old, new)
    return text
