"""A profile's document becomes what the cycle runs: strictly, with all its faults named at once."""

from typing import Any

import pytest

from idcsched.framework.decoding import convert, decode_json
from idcsched.framework.errors import Invalid, PluginBroken
from idcsched.framework.normalize import Scale
from idcsched.framework.plugin import Missing
from idcsched.framework.profile import ALWAYS, Pick, ProfileBody, compile_profile
from idcsched.framework.registry import Registry, load_registry
from idcsched.framework.testing import profile


def refused(*entries: Any, **body: Any) -> list[tuple[str, str]]:
    """The (pointer, code) of each error in the profile."""
    with pytest.raises(Invalid) as refusal:
        profile(*entries, **body)
    return [(error.pointer, error.code) for error in refusal.value.errors]


def entry(**fields: Any) -> Any:
    return ("x", "metric", {"args": {"metric": "x"}, **fields})


def test_it_works() -> None:
    body = decode_json(
        b"""{"plugins": [{"name": "taint", "plugin": "taint"},
                         {"name": "x", "plugin": "metric", "weight": 10, "args": {"metric": "x"}}],
             "tie_breakers": ["x"], "pick": {"kind": "near_best"}, "line_choice": "cheapest",
             "bgp_substitutes": true, "overridable": ["x"], "candidates_percent": 50,
             "fallback": [{"match_labels": {"idc/tier": "edge"}}]}""",
        ProfileBody,
    )
    compiled = compile_profile(body, load_registry(), code="mine", revision=3)
    assert (compiled.code, compiled.revision, compiled.tie_breakers) == ("mine", 3, ("x",))
    assert (compiled.pick, compiled.line_choice, compiled.bgp_substitutes) == (Pick(kind="near_best"), "cheapest", True)
    assert (compiled.overridable, len(compiled.fallback)) == (frozenset({"x"}), 1)
    assert [entry.name for entry in compiled.entries] == [*ALWAYS, "taint", "x"]
    assert [entry.name for entry in compiled.scorers] == ["taint", "x"]
    assert [entry.name for entry in compiled.filters] == ["taint", "x"]
    assert compiled.entry("x").weight == 10.0


def test_what_is_not_said() -> None:
    compiled = profile("taint")
    assert (compiled.tie_breakers, compiled.pick) == (("affinity", "headroom"), Pick(kind="best", epsilon=1.0))
    assert (compiled.line_choice, compiled.bgp_substitutes) == ("roomiest", False)
    assert (compiled.overridable, compiled.fallback) == (frozenset({"*"}), ())
    said = compiled.entry("taint")
    assert (said.weight, said.dynamic_weight, said.normalizer, said.implied) == (0.0, None, None, False)
    assert (said.on_error_filter, said.on_error_score) == ("fail", "ignore")


def test_what_the_request_names_always_holds() -> None:
    compiled = profile("taint", ("where", "labels"))
    implied = [entry.name for entry in compiled.entries if entry.implied]
    assert implied == ["region", "isp", "tier", "partition"]
    assert [entry.name for entry in compiled.pre_filters] == ["region", "isp", "tier", "partition", "where"]


def test_whoever_narrows_comes_first() -> None:
    compiled = profile("available", "tier", "region")
    assert compiled.pre_filters[0].name == "region"


def test_a_profile_without_plugins_is_one() -> None:
    assert [entry.name for entry in profile().entries] == list(ALWAYS)


def test_entries_are_found_by_name_and_by_plugin() -> None:
    compiled = profile(entry(), ("flow", "network_flow"))
    assert compiled.entry("flow") is compiled.of_plugin("network_flow")
    assert compiled.entry("network_flow") is None
    assert compiled.of_plugin("flow") is None


@pytest.mark.parametrize(
    ("on_missing", "expected"),
    [
        pytest.param(None, Missing(filter="reject", score="worst"), id="the plugin's own"),
        pytest.param("pass", Missing(filter="pass", score="worst"), id="a word for filters"),
        pytest.param("neutral", Missing(filter="reject", score="neutral"), id="a word for scorers"),
        pytest.param("last", Missing(filter="last", score="last"), id="last is both"),
        pytest.param({"filter": "last"}, Missing(filter="last", score="worst"), id="one of two"),
        pytest.param({"score": "last"}, Missing(filter="reject", score="last"), id="the other"),
        pytest.param({"filter": "pass", "score": "neutral"}, Missing(filter="pass", score="neutral"), id="both"),
    ],
)
def test_on_missing(on_missing: Any, expected: Missing) -> None:
    assert profile(("flow", "network_flow", {"on_missing": on_missing})).entry("flow").missing == expected


@pytest.mark.parametrize(
    ("on_error", "expected"),
    [
        (None, ("fail", "ignore")),
        ("fail", ("fail", "fail")),
        ("skip_filter", ("skip_filter", "ignore")),
        ("ignore", ("fail", "ignore")),
    ],
)
def test_on_error(on_error: str | None, expected: tuple[str, str]) -> None:
    said = profile(("taint", "taint", {"on_error": on_error})).entry("taint")
    assert (said.on_error_filter, said.on_error_score) == expected


NATURAL = Scale(kind="fixed", better="less", low=1, high=5)


@pytest.mark.parametrize(
    ("normalizer", "expected"),
    [
        pytest.param(None, NATURAL, id="none said: the plugin's own"),
        pytest.param({"kind": "fixed"}, NATURAL, id="no range said: the plugin's own"),
        pytest.param(
            {"kind": "fixed", "low": 0, "high": 9}, Scale(kind="fixed", better="less", low=0, high=9), id="both"
        ),
        pytest.param({"kind": "share"}, Scale(kind="share", better="less", low=1, high=5), id="which way stays"),
    ],
)
def test_normalizer(normalizer: dict[str, Any] | None, expected: Scale) -> None:
    assert profile(entry(normalizer=normalizer)).entry("x").scale(NATURAL) == expected


@pytest.mark.parametrize(
    ("entries", "body", "expected"),
    [
        pytest.param([("a", "nope")], {}, [("/plugins/0/plugin", "unknown_plugin")], id="no such plugin"),
        pytest.param(
            ["taint", "taint"], {}, [("/plugins/1/name", "duplicate_name")], id="a name is unique in the profile"
        ),
        pytest.param([("", "taint")], {}, [("/plugins/0/name", "invalid_name")], id="an empty name"),
        pytest.param([("a b", "taint")], {}, [("/plugins/0/name", "invalid_name")], id="a name with a blank"),
        pytest.param([("a" * 64, "taint")], {}, [("/plugins/0/name", "invalid_name")], id="a name too long"),
        pytest.param(
            [("taint", "taint", {"args": {"x": 1}})],
            {},
            [("/plugins/0/args/x", "unknown_field")],
            id="an argument that it does not take",
        ),
        pytest.param(
            [("available", "available", {"weight": 1})],
            {},
            [("/plugins/0/weight", "not_a_scorer")],
            id="a weight for what does not score",
        ),
        pytest.param(
            [("available", "available", {"dynamic_weight": {"metric": "x", "reference": 1, "factor": 1}})],
            {},
            [("/plugins/0/dynamic_weight", "not_a_scorer")],
            id="a dynamic weight for what does not score",
        ),
        pytest.param(
            [("available", "available", {"normalizer": {"kind": "share"}})],
            {},
            [("/plugins/0/normalizer", "not_a_scorer")],
            id="a normaliser for what does not score",
        ),
        pytest.param([entry(weight=-1)], {}, [("/plugins/0/weight", "out_of_range")], id="a negative weight"),
        pytest.param([entry(weight=10_001)], {}, [("/plugins/0/weight", "out_of_range")], id="a weight too large"),
        pytest.param(
            [entry(normalizer={"kind": "magic"})],
            {},
            [("/plugins/0/normalizer/kind", "invalid_choice")],
            id="normaliser",
        ),
        pytest.param(
            [entry(normalizer={"kind": "fixed", "low": 1})],
            {},
            [("/plugins/0/normalizer", "incomplete_range")],
            id="half a range",
        ),
        pytest.param(
            [entry(normalizer={"kind": "fixed", "low": 1, "high": 1})],
            {},
            [("/plugins/0/normalizer/high", "empty_range")],
            id="an empty range",
        ),
        pytest.param(
            [entry(normalizer={"kind": "fixed", "low": -1.7e308, "high": 1.7e308})],
            {},
            [("/plugins/0/normalizer/high", "empty_range")],
            id="a range that nobody can reckon on",
        ),
        pytest.param(
            [entry(on_missing="maybe")], {}, [("/plugins/0/on_missing", "invalid_choice")], id="no such policy"
        ),
        pytest.param(
            [entry(on_missing={"filter": "worst"})],
            {},
            [("/plugins/0/on_missing/filter", "invalid_choice")],
            id="a policy at the wrong point",
        ),
        pytest.param([entry(on_error="hope")], {}, [("/plugins/0/on_error", "invalid_choice")], id="no such way out"),
        pytest.param(
            ["taint"], {"tie_breakers": ["affinity", "x"]}, [("/tie_breakers/1", "unknown_scorer")], id="tie-breaker"
        ),
        pytest.param(
            ["available"],
            {"tie_breakers": ["available"]},
            [("/tie_breakers/0", "unknown_scorer")],
            id="a tie-breaker that does not score",
        ),
        pytest.param(["taint"], {"overridable": ["x"]}, [("/overridable/0", "unknown_scorer")], id="overridable"),
        pytest.param(["taint"], {"fallback": []}, [("/fallback", "empty_selector")], id="no groups at all"),
        pytest.param(["taint"], {"fallback": [{}]}, [("/fallback/0", "empty_selector")], id="an empty group"),
        pytest.param(["taint"], {"pick": {"kind": "worst"}}, [("/pick/kind", "invalid_choice")], id="pick"),
        pytest.param(["taint"], {"line_choice": "any"}, [("/line_choice", "invalid_choice")], id="line choice"),
        pytest.param(
            ["taint"], {"candidates_percent": 0}, [("/candidates_percent", "out_of_range")], id="no candidates"
        ),
        pytest.param(["taint"], {"colour": "red"}, [("/colour", "unknown_field")], id="an unknown field"),
        pytest.param(
            [("a", "nope"), ("b", "metric"), ("c", "isp", {"weight": 1}), ("c", "taint")],
            {"tie_breakers": ["b", "z"]},
            [
                ("/plugins/0/plugin", "unknown_plugin"),
                ("/plugins/1/args/metric", "required"),
                ("/plugins/2/weight", "not_a_scorer"),
                ("/plugins/3/name", "duplicate_name"),
                ("/tie_breakers/1", "unknown_scorer"),
            ],
            id="everything at once",
        ),
    ],
)
def test_refused(entries: list[Any], body: dict[str, Any], expected: list[tuple[str, str]]) -> None:
    assert refused(*entries, **body) == expected


def test_refusals_name_the_plugin_the_argument_and_what_is_allowed() -> None:
    with pytest.raises(Invalid) as refusal:
        profile(("load", "resource", {"args": {"cpu": 2}}))
    (error,) = refusal.value.errors
    assert str(error) == "/plugins/0/args/cpu: plugin resource: this must be at most 1.0"
    with pytest.raises(Invalid, match="there is no plugin nope; there are affinity, available, "):
        profile(("a", "nope"))


def test_plugins_must_be_said() -> None:
    with pytest.raises(Invalid) as refusal:
        convert({}, ProfileBody)
    assert (refusal.value.code, refusal.value.errors[0].pointer) == ("required", "/plugins")


def test_a_broken_built_in_is_not_passed_over_in_silence() -> None:
    rest = {name: plugin for name, plugin in load_registry().plugins.items() if name != "labels"}
    with pytest.raises(PluginBroken, match="labels") as broken:
        compile_profile(ProfileBody(plugins=()), Registry(rest), code="x", revision=1)
    assert broken.value.code == "plugin_missing"
