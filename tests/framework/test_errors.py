"""The error tree: stable codes, details for people, and several field errors at once."""

import pytest

from idcsched.framework import errors
from idcsched.framework.errors import FieldError, IdcschedError, Invalid, PluginFailed, Unavailable


def test_it_works() -> None:
    error = Invalid("unknown_region", "there is no region {name}", "/region", name="mars")
    assert (error.code, error.detail, str(error)) == (
        "unknown_region",
        "there is no region mars",
        "there is no region mars",
    )
    assert error.errors == (FieldError("/region", "unknown_region", "there is no region {name}", {"name": "mars"}),)
    assert isinstance(error, ValueError)


def test_every_error_is_of_the_tree_and_public() -> None:
    kinds = {kind for kind in vars(errors).values() if isinstance(kind, type) and issubclass(kind, Exception)}
    assert all(issubclass(kind, IdcschedError) for kind in kinds)
    assert {kind.__name__ for kind in kinds} <= set(errors.__all__)


def test_the_first_of_several_names_the_whole() -> None:
    several = Invalid.of([FieldError("/a", "one", "{n} is wrong", {"n": 1}), FieldError("/b", "two", "two is wrong")])
    assert (several.code, several.detail) == ("one", "1 is wrong")
    assert [str(error) for error in several.errors] == ["/a: 1 is wrong", "/b: two is wrong"]


@pytest.mark.parametrize(
    ("error", "text"),
    [
        pytest.param(FieldError("", "c", "all of it"), "all of it", id="about the whole document"),
        pytest.param(FieldError("/a", "c", "is {what}", {"what": "odd"}), "/a: is odd", id="about a field"),
        pytest.param(FieldError("/a", "c", "has {braces}"), "/a: has {braces}", id="without parameters as it stands"),
    ],
)
def test_a_field_error_says_where(error: FieldError, text: str) -> None:
    assert str(error) == text


def test_details_without_parameters_stand_as_they_are() -> None:
    assert errors.Conflict("in_use", "it is {used}").detail == "it is {used}"


def test_a_failed_plugin_is_named() -> None:
    failure = PluginFailed("taint", "filter", "KeyError: 'x'")
    assert (failure.code, str(failure)) == ("plugin_failed", "plugin taint failed at filter: KeyError: 'x'")
    assert isinstance(failure, Unavailable)
