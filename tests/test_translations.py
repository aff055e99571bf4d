"""What people read is said in the language that they ask for; codes and names are the same in every language."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from string import Formatter
from typing import Any

import polib
import pytest
import unfold
from django.apps import apps
from django.conf import settings
from django.test import Client
from django.utils.functional import Promise
from django.utils.translation import gettext, override, to_locale

from idcsched.accounts.administration import _details
from idcsched.accounts.services import user_create
from idcsched.framework.errors import Conflict, FieldError, Invalid
from idcsched.framework.plugin import Reason
from idcsched.inventory.services import region_create
from idcsched.language.borrowed_texts import BORROWED
from idcsched.language.wording import explained, say
from idcsched.scheduling.plugins import registry

LANGUAGE = "zh-hans"
PACKAGES = ("idcsched", "metrics_ingest", "plugins", "deploy")
UNFOLD = Path(unfold.__file__).parent
NOT_SHOWN = (
    " By %(filter_title)s ",
    "Django site admin",
    "Raw passwords are not stored",
    "\n                    Export %(len)s selected item.",
    "Select format",
    "This exporter will export the following fields",
    "View traceback",
)
"""Beginnings of texts of django-unfold on pages that there are not here."""
PERCENT_FIELD = re.compile(r"%\(\w+\)[a-z]|%%")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
SAME_IN_CHINESE = {
    "API",
    "REST API",
    "{reason}",
    "{words} ({code})",
    "{summary}",
    "{error}",
    "{parts}, {part}",
    "{head}; {part}",
} | {
    "Mbps",
    "{note}.",
    "{text} {sentence}",
    "%(used)s of %(all)s Mbps",
    "{value} %",
    "{percent:.0f} %",
}
"""Abbreviations and units, texts that somebody else says, punctuation."""
RUN = "run `make messages`, translate what is empty or fuzzy in the .po file, and run it again"

needs_gettext = pytest.mark.skipif(shutil.which("xgettext") is None, reason="GNU gettext is not installed")


def po_file(language: str = LANGUAGE) -> Path:
    return Path(settings.LOCALE_PATHS[0], to_locale(language), "LC_MESSAGES", "django.po")


def entries() -> list[polib.POEntry]:
    return list(polib.pofile(str(po_file())))


def translation(entry: polib.POEntry) -> str:
    """Return the entry's translation; of a text with a plural its only form, since Chinese has one."""
    return str(entry.msgstr_plural[0] if entry.msgid_plural else entry.msgstr)


def collected(folder: Path) -> set[str]:
    """The texts that `makemessages` collects in a folder."""
    (folder / "locale").mkdir()
    command = [sys.executable, "-m", "django", "makemessages", "--locale", "zh_Hans"]
    without_settings = {name: value for name, value in os.environ.items() if name != "DJANGO_SETTINGS_MODULE"}
    done = subprocess.run(command, cwd=folder, env=without_settings, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {entry.msgid for entry in polib.pofile(str(folder / "locale/zh_Hans/LC_MESSAGES/django.po"))}


def fields(text: str) -> list[tuple[str, str, str]]:
    """What is filled into a text, with how it is formatted."""
    try:
        parts = [
            (name, spec or "", turned or "") for _, name, spec, turned in Formatter().parse(text) if name is not None
        ]
    except ValueError:  # lone braces: it is shown as it is
        parts = []
    return sorted([*parts, *((found, "", "") for found in PERCENT_FIELD.findall(text))])


def test_it_works() -> None:
    with override(LANGUAGE):
        assert say("needs {need:g} {resource}, {free:g} left", {"need": 8.0, "resource": "cpu", "free": 2.5}) == (
            "cpu 需要 8，剩余 2.5"
        )


@needs_gettext
def test_the_catalogue_holds_exactly_what_the_source_says(tmp_path: Path) -> None:
    for package in PACKAGES:
        shutil.copytree(settings.BASE_DIR / package, tmp_path / package, ignore=shutil.ignore_patterns("locale"))
    assert {entry.msgid for entry in entries()} == collected(tmp_path), RUN


def test_no_mark_has_another_name() -> None:
    """`makemessages` does not collect texts that are marked by an alias of `_`, so no module may use one."""
    sources = [file for package in PACKAGES for file in (settings.BASE_DIR / package).rglob("*.py")]
    assert not [str(file) for file in sources if re.search(r"\b_ as \w", file.read_text(encoding="utf-8"))]


@needs_gettext
def test_what_unfold_says_is_translated(tmp_path: Path) -> None:
    shutil.copytree(UNFOLD, tmp_path, dirs_exist_ok=True)
    for optional in {file.parent for file in (tmp_path / "contrib").glob("*/apps.py")}:
        if not apps.is_installed(f"unfold.contrib.{optional.name}"):
            shutil.rmtree(optional)
    said = collected(tmp_path)
    with override(LANGUAGE):
        assert gettext("Apply Filters") == "应用筛选"
        assert not {text for text in said if gettext(text) == text and not text.startswith(NOT_SHOWN)}
    assert not set(BORROWED) - said, "unfold no longer says this"


def test_mypy_refuses_a_text_without_the_mark(tmp_path: Path) -> None:
    lines = ["from idcsched.framework.errors import Invalid", "from idcsched.framework.messages import _", ""]
    refused = ['Invalid("code", "said")', 'Invalid("code", detail="said")', 'Invalid("code", str(1))']
    (tmp_path / "said.py").write_text("\n".join([*lines, 'Invalid("code", _("said"))', *refused]), encoding="utf-8")
    command = [sys.executable, "-m", "mypy", "--config-file=", f"--cache-dir={tmp_path}", tmp_path / "said.py"]
    found = subprocess.run(command, cwd=settings.BASE_DIR, capture_output=True, text=True, check=False).stdout
    assert re.findall(r"said\.py:(\d+): error: .* expected \"Message\"", found) == ["5", "6", "7"], found


def test_the_compiled_catalogue_is_in_step() -> None:
    compiled = {entry.msgid: translation(entry) for entry in polib.mofile(str(po_file().with_suffix(".mo")))}
    assert compiled == {entry.msgid: translation(entry) for entry in entries() if entry.translated()}, RUN


def is_translated(entry: polib.POEntry) -> bool:
    text = translation(entry)
    in_chinese = CHINESE.search(text) or (text and entry.msgid in SAME_IN_CHINESE)
    padded = text != text.strip() and entry.msgid == entry.msgid.strip()
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
    assert sum(bool(fields(entry.msgid)) for entry in entries()) > 250
    assert not [
        entry.msgid for entry in entries() if fields(translation(entry)) != fields(entry.msgid_plural or entry.msgid)
    ]


def _shown() -> Iterator[tuple[str, Any]]:
    """What the admin calls the project's models and fields, and what their constraints say."""
    packages = ("idcsched.", "metrics_ingest.")
    own = [model for model in apps.get_models() if model.__module__.startswith(packages)]
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


def test_all_languages_have_a_catalogue() -> None:
    others = [code for code, _ in settings.LANGUAGES if code != settings.LANGUAGE_CODE]
    assert all(po_file(code).with_suffix(".mo").exists() for code in others)
