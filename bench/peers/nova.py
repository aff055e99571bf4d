"""OpenStack Nova from PyPI in an environment of its own, made when first asked for."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.row import Measure

__all__ = ["deciding"]

VERSION = "34.0.0"
ENVIRONMENT = Path("var/bench/nova")
PROGRAM = Path(__file__).with_name("nova_decides.py")


@contextmanager
def deciding(hosts: int) -> Iterator[Measure]:
    """A running Nova with so many hosts; each round is one decision, in milliseconds."""
    command = [_python(), "-P", "-W", "ignore", PROGRAM, str(hosts)]  # -P: this folder's `nova` is not Nova
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as program:
        talk, listen = program.stdin, program.stdout
        assert talk is not None
        assert listen is not None

        def once() -> float:
            print(flush=True, file=talk)
            return float(listen.readline())

        try:
            yield once
        finally:
            program.terminate()
            with suppress(BrokenPipeError):  # closing says what is still unsaid, and nobody listens any more
                talk.close()


def _python() -> Path:
    python = ENVIRONMENT / "bin" / "python"
    installed = ENVIRONMENT / f"installed-{VERSION}"
    if not installed.exists():
        print(f"Installing Nova {VERSION} for comparison, into {ENVIRONMENT} (once) ...", file=sys.stderr, flush=True)
        subprocess.run([sys.executable, "-m", "venv", "--clear", ENVIRONMENT], check=True)
        pip = [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"nova=={VERSION}"]
        subprocess.run(pip, check=True, stdin=subprocess.DEVNULL)
        installed.touch()
    return python
