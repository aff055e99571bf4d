"""The pages in docs/plugins/ are what the plugins say of themselves."""

import inspect
import json
import re

import pytest

from deploy.docs.plugin_pages import INDEX, POINT_NAMES, plugin_pages
from idcsched.framework.decoding import convert
from idcsched.framework.plugin import Plugin
from idcsched.framework.profile import ProfileBody, compile_profile
from idcsched.framework.registry import Registry, load_registry
from tests.architecture.repository import ROOT
from tests.docs.pages import blocks

FOLDER = ROOT / "docs" / "plugins"
REGISTRY = load_registry()
PAGES = plugin_pages(REGISTRY)
POINTS = re.compile(r"^`\w+` \((?P<points>[^)]*)\): ")


class Foreign(Plugin):
    """A plugin that is not shipped with the product."""

    name = "foreign"


def test_it_works() -> None:
    written = {file.name: file.read_text(encoding="utf-8") for file in FOLDER.glob("*.md")}
    assert written == PAGES, "run `make pages` (a page whose plugin is gone is removed by hand)"


def test_every_plugin_has_its_page_and_stands_in_the_index() -> None:
    assert set(PAGES) == {INDEX, *(f"{name}.md" for name in REGISTRY.plugins)}
    assert all(f"({name}.md)" in PAGES[INDEX] for name in REGISTRY.plugins)


def test_other_peoples_plugins_have_none() -> None:
    assert plugin_pages(Registry({**REGISTRY.plugins, "foreign": Foreign})) == PAGES


@pytest.mark.parametrize("name", sorted(REGISTRY.plugins))
def test_the_points_that_its_docstring_names_are_those_that_it_joins(name: str) -> None:
    plugin = REGISTRY.plugins[name]
    opening = POINTS.match(inspect.getmodule(plugin).__doc__)
    told = [point.removeprefix("optional ") for point in opening["points"].split(", ")]

    assert sorted(told) == sorted(POINT_NAMES[point] for point in plugin.points())


@pytest.mark.parametrize("name", sorted(REGISTRY.plugins))
def test_every_argument_and_reason_is_told(name: str) -> None:
    page, plugin = PAGES[f"{name}.md"], REGISTRY.plugins[name]

    assert not [argument for argument in plugin.Args.__struct_fields__ if f"| `{argument}` |" not in page]
    codes = [reason.code for owner, reason in REGISTRY.reasons() if owner == name]
    assert not [code for code in codes if f"| `{code}` |" not in page]


@pytest.mark.parametrize("name", sorted(REGISTRY.plugins))
def test_its_entry_is_one_that_a_profile_may_hold(name: str) -> None:
    (entry,) = blocks(PAGES[f"{name}.md"], "json")
    body = convert({"plugins": [json.loads(entry)]}, ProfileBody)
    assert compile_profile(body, REGISTRY, code="test", revision=1).of_plugin(name)


def test_a_module_that_does_not_say_what_it_is_has_no_page(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inspect.getmodule(REGISTRY.plugins["taint"]), "__doc__", "Taints.")
    with pytest.raises(ValueError, match="the module of taint does not begin with"):
        plugin_pages(REGISTRY)
