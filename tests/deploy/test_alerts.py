"""The alert rules that are shipped: promtool accepts and tests them, and the runbook has each of them."""

import re
import subprocess
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import pytest
import yaml
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from idcsched.scheduling.live import live
from tests.architecture.repository import ROOT
from tests.docs.pages import page, section, tables
from tests.servers import Unavailable, prometheus

RULES = ROOT / "deploy" / "prometheus" / "rules" / "idcsched.yml"
UNIT_TESTS = ROOT / "tests" / "deploy" / "alerts.yml"
METRIC = re.compile(r"\bidcsched_\w+")
SUFFIXES = {"counter": ("_total",), "gauge": ("",), "histogram": ("_bucket", "_sum", "_count")}


def rules() -> list[dict[str, Any]]:
    (group,) = yaml.safe_load(RULES.read_text(encoding="utf-8"))["groups"]
    return list(group["rules"])


@pytest.fixture(scope="module")
def promtool() -> Iterator[str]:
    try:
        with prometheus.present():
            yield "promtool"
    except Unavailable as error:
        pytest.skip(str(error))


@pytest.fixture
def declared(client: Client, db: None) -> set[str]:
    """The names of all metrics on the product's page of metrics, also of those without a value yet."""
    live.current()
    import_module("idcsched.api.throttle_sync")  # loaded only where there is Redis
    text = client.get("/metrics").content.decode()
    families = [
        family
        for family in text_string_to_metric_families(text)
        if family.name.startswith("idcsched_") and not family.name.endswith("_created")
    ]
    return {family.name + suffix for family in families for suffix in SUFFIXES[family.type]}


@pytest.mark.parametrize(
    "arguments",
    [
        ("check", "rules", RULES),
        ("test", "rules", UNIT_TESTS),
        ("check", "config", RULES.parents[1] / "prometheus.yml"),
    ],
)
def test_promtool_accepts(promtool: str, arguments: tuple[Any, ...]) -> None:
    done = subprocess.run([promtool, *map(str, arguments)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_a_unit_test() -> None:
    cases = [
        case
        for test in yaml.safe_load(UNIT_TESTS.read_text(encoding="utf-8"))["tests"]
        for case in test.get("alert_rule_test", [])
    ]
    raised = {case["alertname"] for case in cases if case["exp_alerts"]}
    assert raised == {rule["alert"] for rule in rules()}


def test_the_runbook_has_an_entry_for_every_alert_and_no_other() -> None:
    _, *entries = re.split(r"^## ", page("runbook.md"), flags=re.MULTILINE)
    severities = {}
    for entry in entries:
        name, severity, _ = entry.split("\n\n", 2)
        severities[name] = severity.strip("*")
        assert re.findall(r"^- \*\*(.*?):\*\* \S", entry, re.MULTILINE) == ["Means", "Look at", "Do"], name
    assert severities == {rule["alert"]: rule["labels"]["severity"] for rule in rules()}


def test_every_alert_leads_to_its_entry() -> None:
    headings = re.findall(r"^## (.*)$", page("runbook.md"), re.MULTILINE)
    addresses = {heading.lower(): heading for heading in headings}  # each is one word
    for rule in rules():
        file, _, anchor = rule["annotations"]["runbook"].partition("#")
        assert (file, addresses.get(anchor)) == ("docs/runbook.md", rule["alert"])


def test_what_the_runbook_names_is_there(declared: set[str]) -> None:
    text = page("runbook.md")
    metrics = set(METRIC.findall(text))
    histograms = {name.removesuffix("_count") for name in declared}
    assert metrics <= declared | histograms
    endpoints = set(re.findall(r"`(?:POST )?([a-z]+/\{.*?/)`", text))
    assert endpoints
    assert not [each for each in endpoints if f"`{each}`" not in page("permissions.md") + page("callbacks.md")]


def test_the_product_has_every_metric_of_a_rule(declared: set[str]) -> None:
    for rule in rules():
        named = set(METRIC.findall(rule["expr"]))
        assert named <= declared, rule["alert"]


def test_the_page_has_every_metric(declared: set[str]) -> None:
    (table,) = tables(section(page("observing.md"), "Figures for Prometheus"))
    documented = {name for row in table for name in row["metric"].split(", ")}
    assert documented == {re.sub("_(bucket|sum|count)$", "", name) for name in declared}
