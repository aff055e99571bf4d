"""A real Prometheus scrapes the installation, and evaluates the alert rules and the board that are shipped."""

import json
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import urlopen

import pytest

from tests.architecture.repository import ROOT
from tests.servers import Unavailable, prometheus
from tests.stories.fleet import new_fleet
from tests.stories.product import Product, until

RULES = ROOT / "deploy" / "prometheus" / "rules" / "idcsched.yml"
BOARD = ROOT / "deploy" / "grafana" / "dashboards" / "idcsched.json"
GRAFANA_INTERVAL = "$__rate_interval"
"""What Grafana replaces in a query: four scrapes at least."""


@pytest.fixture(scope="module")
def server(product: Product) -> Iterator[str]:
    """The address of a Prometheus that scrapes the installation, as the shipped configuration names its job."""
    product.caller().schedule(region="A", profile="seed-example")  # rejects an IDC
    fleet = new_fleet(product)
    for caller in fleet.callers:
        caller.schedule(**fleet.question)
    try:
        with prometheus.running(urlsplit(product.address).netloc, job="idcsched", rules=RULES) as address:
            yield address
    except Unavailable as error:
        pytest.skip(str(error))


def ask(server: str, path: str) -> Any:
    with urlopen(f"{server}/api/v1/{path}", timeout=60) as response:
        return json.load(response)["data"]


def test_every_alert_rule_is_evaluated(server: str) -> None:
    def evaluated() -> bool:
        (group,) = ask(server, "rules")["groups"]
        assert not [rule["lastError"] for rule in group["rules"] if rule["health"] == "err"]
        return all(rule["health"] == "ok" for rule in group["rules"])

    until(evaluated, "the alert rules", seconds=120)


def test_every_panel_of_the_board_shows_something(server: str, beat: None) -> None:
    queries = [
        (panel["title"], target["expr"].replace(GRAFANA_INTERVAL, "60s"))
        for panel in json.loads(BOARD.read_text(encoding="utf-8"))["panels"]
        for target in panel["targets"]
    ]
    empty = dict.fromkeys(queries)

    def shown() -> bool:
        for title, query in list(empty):
            if ask(server, f"query?{urlencode({'query': query})}")["result"]:
                del empty[title, query]
        return not empty

    until(shown, f"{empty}", seconds=60)
    known = set(ask(server, "label/__name__/values"))
    assert {name for _, query in queries for name in re.findall(r"idcsched_\w+", query)} <= known
