"""`python -m bench.year`: what a year of samples weighs, and how long deletions take; figures in var/year.json.

100 IDCs with 3 lines each, a sample of each line every five minutes, on a PostgreSQL of its own with its safety on. A
year is stored at once, though an installation keeps samples for 40 days, so that there is much to delete; then the
daily figures of 400 days, and recommendations through a web server, each on record with its inputs. On another
PostgreSQL 10,000 IDCs with the 40 days that are kept, and beside them the same in a table with a part for each day.
"""

import json
import os
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path
from time import sleep

from bench.asked import requests
from bench.calling import Api, Failed
from bench.serving import STORE
from idcsched.demo.processes import start, stop
from idcsched.demo.supervisor import web_command
from tests.servers import free_port, postgresql, scratch_folder

__all__ = ["RESULT", "main"]

RESULT = Path("var/year.json")
IDCS, FLEET = 100, 10_000
ASKED = 2000
TOLD = "from json import dumps; from bench.stored_year import {name}; print(dumps({name}()))"
Figures = dict[str, float]


def _asked(environment: Mapping[str, str], folder: Path, token: str) -> Figures:
    """Recommendations through a web server, and what their records weigh."""
    port = free_port()
    web = start("web", web_command(port=port), log=folder / "web.log", environment=environment)
    try:
        with closing(Api(f"127.0.0.1:{port}", token)) as api:
            _wait(api)
            for body in requests(ASKED):
                api.call("POST", "/schedule/", body)
        sleep(3)  # records are stored behind the answers
    finally:
        stop(web)
    found: Figures = json.loads(_python(environment, TOLD.format(name="decisions")))
    return found


def _wait(api: Api) -> None:
    for _ in range(300):
        try:
            api.call("GET", "/status/")
        except Failed:
            sleep(0.2)
        else:
            return
    raise RuntimeError("the web server does not answer")


def _python(environment: Mapping[str, str], code: str) -> str:
    command = [sys.executable, "manage.py", "shell", "--verbosity", "0", "--command", code]
    return subprocess.run(
        command, env=environment, stdout=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, check=True
    ).stdout.strip()


@contextmanager
def _fleet(idcs: int) -> Iterator[tuple[Mapping[str, str], Path, str]]:
    """The variables of an installation with so many IDCs on a PostgreSQL of its own, its folder, and a token."""
    with postgresql.running({}) as url, scratch_folder() as folder:
        environment = os.environ | {"DATABASE_URL": url, "VAR_DIR": str(folder), "THROTTLE": "off"}
        migrate = [sys.executable, "manage.py", "migrate", "--verbosity", "0"]
        subprocess.run(migrate, env=environment, stdin=subprocess.DEVNULL, check=True)
        yield environment, folder, _python(environment, STORE.format(count=idcs))


def main() -> int:
    with _fleet(IDCS) as (environment, folder, token):
        found = _asked(environment, folder, token) | json.loads(_python(environment, TOLD.format(name="stored")))
    with _fleet(FLEET) as (environment, _, _):
        found |= json.loads(_python(environment, TOLD.format(name="kept")))
    RESULT.parent.mkdir(parents=True, exist_ok=True)
    RESULT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
    for name, value in found.items():
        print(f"{name.replace('_', ' '):<20}{value:,.2f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
