"""Two web processes: a change made through one is in force in the other soon, and each tells the figures of both."""

import json
import re
from typing import Any
from urllib.request import Request, urlopen

from tests.e2e.installation import Installation, post, wait_for
from tests.e2e.running import made

ASKED = {"region": "A", "profile": "seed-example"}
REQUESTS = 40


def put(url: str, body: dict[str, Any], token: str) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urlopen(Request(url, json.dumps(body).encode(), headers, method="PATCH"), timeout=30) as response:
        assert response.status == 200


def test_it_works(demo: Installation) -> None:
    """Every request is a new connection, so that both processes answer some."""
    demo.environment["WEB_WORKERS"] = "2"
    with made(demo):
        api = f"http://127.0.0.1:{demo.environment['PORT']}/api/v1"
        tokens = json.loads((demo.var / "demo-credentials.json").read_text(encoding="utf-8"))
        portal, operator = tokens["portal"]["token"], tokens["operator"]["token"]
        answers = []

        def revisions() -> set[int]:
            answers.extend(post(f"{api}/schedule/", ASKED, portal) for _ in range(REQUESTS))
            return {answer["profile"]["revision"] for answer in answers[-REQUESTS:]}

        assert revisions() == {1}
        put(f"{api}/profiles/seed-example/", {"message": "as it was"}, operator)
        wait_for(lambda: revisions() == {2}, "the change in both processes", seconds=1)  # half a second is promised
        assert len({answer["snapshot"]["id"] for answer in answers[-REQUESTS:]}) == 2, "each has a picture of its own"
        with urlopen(f"{api.removesuffix('/api/v1')}/metrics", timeout=5) as response:
            told = response.read().decode()
        (attempts,) = re.findall(
            r'^idcsched_schedule_attempts_total\{[^}]*"seed-example"[^}]*\} (\S+)$', told, re.MULTILINE
        )
        assert float(attempts) == len(answers)
