"""What people read is said in the language that they ask for; codes and names are the same in every language."""

import re
from collections.abc import Callable, Iterator, Mapping
from io import StringIO
from pathlib import Path
from string import Formatter
from typing import Any

import polib
import pytest
from django.apps import apps
from django.conf import settings
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils.functional import Promise
from django.utils.translation import override, to_locale

from idcsched.accounts.administration import _details
from idcsched.accounts.services import user_create
from idcsched.framework.errors import Conflict, FieldError, Invalid
from idcsched.framework.plugin import Reason
from idcsched.inventory.services import region_create
from idcsched.management.commands.messages import po_file, read, updated
from idcsched.message_ids import UnclearMessage, message_ids
from idcsched.scheduling.plugins import registry
from idcsched.wording import explained, say

LANGUAGE = "zh-hans"
LOCALE = to_locale(LANGUAGE)
PERCENT_FIELD = re.compile(r"%\(\w+\)[a-z]|%%")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
HEADER = 'msgid ""\nmsgstr "Content-Type: text/plain; charset=UTF-8\\n"\n'
SAME_IN_CHINESE = {"API", "REST API", "{reason}", "{summary}", "{error}", "{parts}, {part}", "{head}; {part}"}
"""Abbreviations, texts that somebody else says, punctuation."""
RUN = "run: python manage.py messages, then translate what it names and run it again"


def entries() -> list[polib.POEntry]:
    return list(read(po_file(LOCALE)))


def fields(entry: polib.POEntry, text: str) -> list[tuple[str, str, str]]:
    """What is filled into a text, with how it is formatted."""
    if "python-brace-format" in entry.flags:
        parts = Formatter().parse(text)
        return sorted((name, spec or "", turned or "") for _, name, spec, turned in parts if name is not None)
    return sorted((found, "", "") for found in PERCENT_FIELD.findall(text)) if "python-format" in entry.flags else []


def test_it_works() -> None:
    with override(LANGUAGE):
        assert say("needs {need:g} {resource}, {free:g} left", {"need": 8.0, "resource": "cpu", "free": 2.5}) == (
            "cpu 需要 8，剩余 2.5"
        )


@pytest.mark.no_cover
def test_the_catalogue_holds_exactly_what_the_source_says() -> None:
    file = po_file(LOCALE)
    assert str(updated(read(file), LOCALE)) == file.read_text(encoding="utf-8"), RUN


def test_the_compiled_catalogue_is_in_step() -> None:
    file = po_file(LOCALE)
    assert read(file).to_binary() == file.with_suffix(".mo").read_bytes(), RUN


def is_translated(entry: polib.POEntry) -> bool:
    in_chinese = CHINESE.search(entry.msgstr) or (entry.msgstr and entry.msgid in SAME_IN_CHINESE)
    padded = entry.msgstr != entry.msgstr.strip() and entry.msgid == entry.msgid.strip()
    return bool(in_chinese) and not padded and "fuzzy" not in entry.flags


def test_every_text_is_translated() -> None:
    assert not [entry.msgid for entry in entries() if not is_translated(entry)]


@pytest.mark.parametrize(
    ("translation", "flags"),
    [
        pytest.param("", [], id="not at all"),
        pytest.param("enough", [], id="not into Chinese"),
        pytest.param("足够 ", [], id="with a blank that is not in the text"),
        pytest.param("足够", ["fuzzy"], id="by a guess"),
    ],
)
def test_what_is_not_translated_is_found(translation: str, flags: list[str]) -> None:
    assert is_translated(polib.POEntry(msgid="enough", msgstr="足够"))
    assert not is_translated(polib.POEntry(msgid="enough", msgstr=translation, flags=flags))


def test_translations_have_the_same_fields() -> None:
    filled_in = [entry for entry in entries() if entry.flags]
    assert len(filled_in) > 100
    assert not [entry.msgid for entry in filled_in if not fields(entry, entry.msgid)]
    assert not [entry.msgid for entry in filled_in if fields(entry, entry.msgstr) != fields(entry, entry.msgid)]


def _shown() -> Iterator[tuple[str, Any]]:
    """What the admin calls the project's models and fields, and what their constraints say."""
    rooms = ("idcsched.", "metrics_ingest.")
    own = [model for model in apps.get_models() if model.__module__.startswith(rooms)]
    for model in own:
        yield model._meta.label, model._meta.verbose_name
        for field in model._meta.get_fields():
            if field.concrete and not field.primary_key:
                yield f"{model._meta.label}.{field.name}", field.verbose_name
                yield from ((f"{model._meta.label}.{field.name}={value}", text) for value, text in field.choices or ())
        for constraint in model._meta.constraints:
            if isinstance(constraint.violation_error_message, Promise):
                yield constraint.name, constraint.violation_error_message


def test_the_admin_speaks_chinese() -> None:
    shown = dict(_shown())
    assert len(shown) > 400
    with override(LANGUAGE):
        assert not {
            place: str(text)
            for place, text in shown.items()
            if not CHINESE.search(str(text)) and str(text) not in SAME_IN_CHINESE
        }


@pytest.mark.parametrize(
    "reason", [pytest.param(reason, id=f"{plugin}-{reason.label}") for plugin, reason in registry().reasons()]
)
def test_every_reason_of_a_built_in_plugin_is_said_in_chinese(reason: Reason) -> None:
    with override(LANGUAGE):
        assert CHINESE.search(say(reason.label, {}))
        assert CHINESE.search(say(reason.sentence, {}))


SENTENCES = """
from django.utils.translation import gettext_lazy as _
from idcsched.framework.errors import FieldError, Invalid, Template

NAME = _("a name")
LONG = "a long " "one"

class Own(Invalid):
    pass

class Broken(Invalid):
    def __init__(self, what: str) -> None:
        super().__init__("broken", "{what} is broken", what=what)

def named(kind: str, detail: Template) -> None:
    raise Invalid(kind, detail)
"""
ERRORS = """
Template = str

class FieldError:
    pointer: str
    code: str
    detail: Template

class Invalid(Exception):
    def __init__(self, code: str, detail: Template, **params: object) -> None:
        self.template: Template = detail
"""


@pytest.fixture
def source(tmp_path: Path) -> Callable[[str], Path]:
    """A project of which one module ends with the given lines."""

    def write(lines: str) -> Path:
        package = tmp_path / "package"
        package.mkdir()
        for name, text in {"__init__": "", "errors": ERRORS, "sentences": SENTENCES + lines}.items():
            (package / f"{name}.py").write_text(text, encoding="utf-8")
        return tmp_path

    return write


ALWAYS = {"a name", "{what} is broken"}


@pytest.mark.parametrize(
    ("lines", "found"),
    [
        pytest.param('Invalid("code", "said here")', {"said here"}, id="an argument"),
        pytest.param('Invalid("code", detail="said here")', {"said here"}, id="an argument by name"),
        pytest.param('Own("code", "said here")', {"said here"}, id="an error derived from another"),
        pytest.param('FieldError("/x", "code", "said here")', {"said here"}, id="a field of a class"),
        pytest.param('named("code", "said here")', {"said here"}, id="a function that hands it on"),
        pytest.param('Invalid("code", LONG)', {"a long one"}, id="a constant"),
        pytest.param('Invalid("code", "one" if NAME else "other")', {"one", "other"}, id="one of two"),
        pytest.param(
            'for code, text in (("a", "one"), ("b", "two")):\n    Invalid(code, text)', {"one", "two"}, id="rows"
        ),
        pytest.param(
            'def f(rows):\n    for row in rows:\n        text = "said"\n        Invalid("code", text)',
            {"said"},
            id="a text in a loop over what is given",
        ),
        pytest.param("def f(error):\n    return Invalid(error.code, error.template)", set(), id="what was said before"),
        pytest.param('def f(text):\n    return Invalid("code", str(text))', set(), id="what others say"),
        pytest.param('Other("code", "not said")', set(), id="nothing that people read"),
    ],
)
def test_texts_are_found(lines: str, found: set[str], source: Callable[[str], Path]) -> None:
    assert set(message_ids(source(lines))) == ALWAYS | found


@pytest.mark.parametrize(
    "lines",
    [
        pytest.param('Invalid("code", f"{NAME} is wrong")', id="filled in before it could be translated"),
        pytest.param('Invalid("code", "it is " + NAME)', id="put together"),
        pytest.param('def f(text):\n    return Invalid("code", text)', id="from a parameter that is no Template"),
        pytest.param('Invalid("code", texts()["it"])', id="from somewhere else"),
        pytest.param('Invalid(*("code", "said here"))', id="starred"),
        pytest.param("from django.utils.translation import ngettext", id="plural forms"),
    ],
)
def test_what_can_not_be_followed_is_refused(lines: str, source: Callable[[str], Path]) -> None:
    with pytest.raises(UnclearMessage, match=r"package/sentences.py:\d+"):
        message_ids(source(lines))


def test_it_is_said_where_a_text_is_and_how_its_fields_are_filled(source: Callable[[str], Path]) -> None:
    found = message_ids(source('_("%(count)s times")'))
    assert found["{what} is broken"].files == ("package/sentences.py",)
    assert {text: message.flags for text, message in found.items()} == {
        "a name": (),
        "{what} is broken": ("python-brace-format",),
        "%(count)s times": ("python-format",),
    }


def test_a_refusal_inside_of_another_is_translated_too() -> None:
    inner = FieldError("", "empty_range", "low must be less than high")
    error = FieldError("/plugins/0", "invalid", "plugin {plugin}: {problem}", {"plugin": "metric", "problem": inner})
    assert explained(error) == "plugin metric: low must be less than high"
    with override(LANGUAGE):
        assert explained(error) == "插件 metric：low 必须小于 high"


@pytest.mark.parametrize(
    ("refusal", "expected"),
    [
        pytest.param(
            Invalid("unknown_region", "there is no region {name}", "/region", name="Z"), "没有区域 Z", id="400"
        ),
        pytest.param(Conflict("in_use", "in use by {examples}", examples="x"), "正在被使用：x", id="409"),
    ],
)
def test_the_admin_shows_refusals_in_its_language(refusal: Invalid | Conflict, expected: str) -> None:
    with override(LANGUAGE):
        assert [detail for _, detail in _details(refusal)] == [expected]


@pytest.fixture
def browser(db: None) -> Client:
    """An administrator whose browser asks for Chinese."""
    client = Client(SERVER_NAME="localhost", headers={"accept-language": "zh-CN,zh;q=0.9"})
    client.force_login(user_create(username="root", role="admin"))
    return client


def test_the_admin_is_shown_in_chinese(browser: Client) -> None:
    page = browser.get("/admin/").content.decode()
    assert all(
        f">{name}</" in page for name in ("区域", "机房", "线路", "污点", "亲和性", "调度策略", "决策", "指标", "租户")
    )


def test_what_a_service_refuses_is_shown_in_chinese(browser: Client) -> None:
    region_create(code="A")
    fields = {"code": "B", "parent": "", "labels": "{}", "name": "", "latitude": "1", "longitude": ""}
    page = browser.post("/admin/inventory/region/add/", fields).content.decode()
    assert "纬度和经度必须同时填写或同时留空。" in page


def test_a_text_without_a_translation_is_said_in_english() -> None:
    with override(LANGUAGE):
        assert say("a third party's {thing}", {"thing": "reason"}) == "a third party's reason"


def test_the_command_keeps_what_is_translated(settings: Any, tmp_path: Path, source: Callable[[str], Path]) -> None:
    settings.LOCALE_PATHS = [tmp_path]
    settings.BASE_DIR = source('Invalid("code", "not enough bandwidth")\nInvalid("code", "not enough stock")')
    file = po_file(LOCALE)
    file.parent.mkdir(parents=True)
    file.write_text(
        f'{HEADER}\nmsgid "not enough bandwidth"\nmsgstr "带宽不足"\n\nmsgid "gone"\nmsgstr "没了"\n', "utf-8"
    )

    said = StringIO()
    call_command("messages", stdout=said)

    assert {entry.msgid: entry.msgstr for entry in read(file) if entry.msgstr} == {"not enough bandwidth": "带宽不足"}
    assert {entry.msgid for entry in read(file)} == ALWAYS | {"not enough bandwidth", "not enough stock"}
    assert [entry.msgstr for entry in polib.mofile(str(file.with_suffix(".mo")))] == ["带宽不足"]
    assert "zh_Hans: not translated: not enough stock\n" in said.getvalue()
    assert said.getvalue().endswith("zh_Hans: 1 of 4 texts are translated.\n")


def test_the_command_starts_a_language_that_is_new(
    settings: Any, tmp_path: Path, source: Callable[[str], Path]
) -> None:
    settings.LOCALE_PATHS = [tmp_path]
    settings.BASE_DIR = source("")
    settings.LANGUAGES = [("en", "English"), ("ja", "Japanese")]
    call_command("messages", stdout=StringIO())
    assert {entry.msgid for entry in read(po_file("ja"))} == ALWAYS
    assert read(po_file("ja")).metadata["Language"] == "ja"


def test_the_command_says_what_can_not_be_followed(
    settings: Any, tmp_path: Path, source: Callable[[str], Path]
) -> None:
    settings.LOCALE_PATHS = [tmp_path]
    settings.BASE_DIR = source('Invalid("code", f"{NAME}")')
    with pytest.raises(CommandError, match=r"it can't be told what is said at package/sentences.py:\d+"):
        call_command("messages", stdout=StringIO())


def test_all_languages_have_a_catalogue() -> None:
    others: Mapping[str, str] = {code: str(name) for code, name in settings.LANGUAGES if code != settings.LANGUAGE_CODE}
    assert all(po_file(to_locale(code)).with_suffix(".mo").exists() for code in others)
