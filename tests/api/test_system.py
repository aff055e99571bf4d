"""The plugins that are registered, and `status/`."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from idcsched.feed.services import feed_append
from idcsched.scheduling import plugins
from idcsched.scheduling.models import ProfileRevision
from metrics_ingest.models import Metric
from tests.api.conftest import Api, causes


def test_it_works(seed: Api, api: Callable[..., Api]) -> None:
    status = api("viewer").get("/status/")

    assert status["versions"]["idcsched"]
    assert (status["snapshot"]["idcs"], status["snapshot"]["lines"]) == (6, 0)
    assert status["profiles"]["seed-example"] == 1
    assert (status["broken_plugins"], status["broken_profiles"]) == ({}, {})
    assert not causes(api("viewer"))


def test_every_plugin_says_what_it_takes(seed: Api) -> None:
    listed = {plugin["name"]: plugin for plugin in seed.get("/plugins/")["results"]}

    assert {"available", "network_flow", "taint", "billing_cost"} <= set(listed)
    assert listed["taint"]["points"] == ["filter", "score"]
    assert listed["taint"]["reasons"] == [
        {"code": "untolerated_taint", "label": "untolerated taint", "sentence": "untolerated taint {taint}"}
    ]
    assert "cpu" in str(listed["resource"]["args"])


def test_a_broken_plugin_that_no_profile_needs_is_named(seed: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    broken = replace(plugins.registry(), broken={"sun (acme)": "ImportError: no module named sun"})
    monkeypatch.setattr("idcsched.api.views.system.registry", lambda: broken)

    status = seed.get("/status/")

    assert status["broken_plugins"] == {"sun (acme)": "ImportError: no module named sun"}
    assert not causes(seed)


def test_a_profile_whose_plugin_is_gone_is_named_and_the_others_go_on(seed: Api, portal: Api) -> None:
    gone = {"plugins": [{"name": "sun", "plugin": "sun"}]}
    ProfileRevision.objects.filter(profile__code="cost-first").update(body=gone)
    feed_append(topic="profiles")

    status = seed.get("/status/")

    assert list(status["broken_profiles"]) == ["cost-first"]
    assert causes(seed) == ["profile_broken: cost-first"]
    refused = portal.post("/schedule/", {"region": "A", "profile": "cost-first"}, status=503)
    assert refused["code"] == "profile_broken"
    assert "there is no plugin sun" in refused["detail"]
    assert portal.schedule(region="A", profile="seed-example")["idc"]["code"] == "d"


def test_a_profile_whose_range_is_gone_is_named(seed: Api) -> None:
    seed.post("/metrics/", {"code": "q", "direction": "higher", "scope": "idc", "low": 0, "high": 10}, status=201)
    scorer = {"name": "q", "plugin": "metric", "weight": 1, "args": {"metric": "q"}, "normalizer": {"kind": "fixed"}}
    seed.post("/profiles/", {"code": "ranged", "plugins": [scorer]}, status=201)
    assert not causes(seed)

    Metric.objects.filter(code="q").update(low=None, high=None)
    feed_append(topic="metric_definitions")

    assert causes(seed) == ["profile_without_range: ranged"]


def test_nobody_in_particular_sees_nothing(anonymous: Api) -> None:
    assert anonymous.refused("GET", "/status/", status=401)[0] == "token_missing"
    assert anonymous.refused("GET", "/plugins/", status=401)[0] == "token_missing"
