"""Runs pytest, and runs once more what failed: alone, after all others.

A test that passes then does not fail the run; it is named as unsteady, in the last lines and in `var/unsteady.txt`.
`python -m tests.run ARGS` takes the arguments of pytest.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

__all__ = ["run"]

VAR = Path("var")
UNSTEADY = VAR / "unsteady.txt"
CACHE = VAR / "pytest"
FAILED = CACHE / "v" / "cache" / "lastfailed"
ALONE = ("--numprocesses", "0", "--dist", "no", "--no-cov")
AT_MOST = 20
"""So many failures are no accident, and running them one by one would take long."""


def run(arguments: list[str]) -> int:
    """Run pytest with `arguments`; return its exit code, 0 if each test that failed passes by itself."""
    FAILED.unlink(missing_ok=True)
    code = _pytest(*arguments)
    failed = _failed()
    if code != pytest.ExitCode.TESTS_FAILED or not 0 < len(failed) <= AT_MOST:
        return code
    print(f"Running {len(failed)} again, alone: {' '.join(failed)}", flush=True)
    code = _pytest(*arguments, *ALONE, "--last-failed", "--last-failed-no-failures", "none")
    still_failing = _failed()
    unsteady = [name for name in failed if name not in still_failing]
    if unsteady:
        with UNSTEADY.open("a", encoding="utf-8") as file:
            file.writelines(f"{name}\n" for name in unsteady)
        print("Unsteady, failed and then passed alone:", *unsteady, sep="\n  ", flush=True)
    return code


def _pytest(*arguments: str) -> int:
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-o", f"cache_dir={CACHE}", *arguments], check=False
    ).returncode


def _failed() -> list[str]:
    """Return the tests and files that failed in the run before, as pytest keeps them for `--last-failed`."""
    return list(json.loads(FAILED.read_text(encoding="utf-8"))) if FAILED.exists() else []


if __name__ == "__main__":
    VAR.mkdir(exist_ok=True)
    sys.exit(run(sys.argv[1:]))
