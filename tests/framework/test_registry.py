"""The registry: built-in plugins by name, third parties' by entry point; what is broken takes nothing down."""

import sys
from importlib.metadata import EntryPoint
from types import ModuleType
from typing import Any

import pytest

from idcsched.framework import registry
from idcsched.framework.context import Cycle
from idcsched.framework.errors import PluginBroken
from idcsched.framework.plugin import Plugin, Reason, Verdict
from idcsched.framework.registry import Registry, load_registry

TOO_LOUD = Reason("too_loud", "too loud", "it is too loud")


class Quiet(Plugin):
    """Keeps everybody."""

    name = "quiet"

    def filter(self, ctx: Cycle) -> Verdict | None:
        return None


class Nameless(Quiet):
    name = None  # type: ignore[assignment]


class Shouting(Quiet):
    name = "Shouting"


class Spaced(Quiet):
    name = "two words"


class Useless(Plugin):
    name = "useless"


class Again(Quiet):
    name = "taint"


def offered(monkeypatch: pytest.MonkeyPatch, **values: Any) -> Registry:
    """The registry where a third party offers these, by entry point."""
    module = ModuleType("third_party")
    vars(module).update({f"plugin_{name}": value for name, value in values.items()})
    monkeypatch.setitem(sys.modules, "third_party", module)
    points = [EntryPoint(name, f"third_party:plugin_{name}", registry.GROUP) for name in values]
    monkeypatch.setattr(registry, "entry_points", lambda group: points if group == registry.GROUP else [])
    return load_registry()


def test_it_works() -> None:
    loaded = load_registry()
    assert loaded.broken == {}
    assert {"available", "region", "isp", "network_flow", "taint", "affinity", "metric"} <= set(loaded.plugins)
    assert loaded.get("taint").name == "taint"
    assert loaded.get("nope") is None


def test_a_third_partys_plugin_is_one_like_any(monkeypatch: pytest.MonkeyPatch) -> None:
    loaded = offered(monkeypatch, quiet=Quiet)
    assert loaded.broken == {}
    assert loaded.get("quiet") is Quiet


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        pytest.param(5, "5 is not a subclass of Plugin", id="no class"),
        pytest.param(dict, "is not a subclass of Plugin", id="another class"),
        pytest.param(Nameless, "Nameless needs a lower-case identifier", id="no name"),
        pytest.param(Shouting, "Shouting needs a lower-case identifier", id="a name in capitals"),
        pytest.param(Spaced, "Spaced needs a lower-case identifier", id="a name that is none"),
        pytest.param(Useless, "useless overrides no method of the life cycle", id="does nothing"),
        pytest.param(Again, "a plugin named taint is registered already", id="a name that is taken"),
    ],
)
def test_a_broken_one_is_named_and_takes_nothing_down(
    monkeypatch: pytest.MonkeyPatch, value: Any, problem: str
) -> None:
    loaded = offered(monkeypatch, bad=value, quiet=Quiet)
    assert problem in loaded.broken["bad (third_party:plugin_bad)"]
    assert loaded.broken["bad (third_party:plugin_bad)"].startswith("PluginBroken: ")
    assert loaded.get("quiet") is Quiet
    assert loaded.get("taint").__module__ == "plugins.taint"


def test_one_that_cannot_be_imported_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    points = [
        EntryPoint("gone", "no_such_module:Plugin", registry.GROUP),
        EntryPoint("bare", "third_party:Missing", registry.GROUP),
    ]
    monkeypatch.setitem(sys.modules, "third_party", ModuleType("third_party"))
    monkeypatch.setattr(registry, "entry_points", lambda group: points)
    broken = load_registry().broken
    assert broken["gone (no_such_module:Plugin)"].startswith("ModuleNotFoundError: ")
    assert broken["bare (third_party:Missing)"].startswith("AttributeError: ")


def test_the_distribution_is_named_where_there_is_one(monkeypatch: pytest.MonkeyPatch) -> None:
    class Distribution:
        name = "acme-plugins"

    point = EntryPoint("gone", "no_such_module:Plugin", registry.GROUP)
    vars(point)["dist"] = Distribution()
    monkeypatch.setattr(registry, "entry_points", lambda group: [point])
    assert list(load_registry().broken) == ["gone (acme-plugins)"]


@pytest.mark.parametrize(("value", "code"), [(5, "wrong_class"), (Nameless, "bad_name"), (Useless, "no_point")])
def test_codes(value: Any, code: str) -> None:
    with pytest.raises(PluginBroken) as broken:
        registry.check_plugin(value)
    assert broken.value.code == code


def test_points_are_the_methods_that_a_class_overrides() -> None:
    assert Quiet.points() == ("filter",)
    assert Quiet.joins("filter")
    assert not Quiet.joins("score")
    assert load_registry().get("network_flow").points() == ("pre_filter", "score", "reserve")


def test_reasons_are_those_that_a_plugins_module_declares() -> None:
    assert list(Registry({"quiet": Quiet}).reasons()) == [("quiet", TOO_LOUD)]


def test_a_code_is_given_by_one_built_in_plugin_only() -> None:
    given = {(reason.code, plugin) for plugin, reason in load_registry().reasons()}
    codes = [code for code, _ in given]
    assert len(codes) == len(set(codes))
    assert {"untolerated_taint", "not_enough_bandwidth", "no_line", "not_online"} <= set(codes)
