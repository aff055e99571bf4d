"""Whatever is typed into the admin's addresses and forms, by whichever role, no page breaks.

By hand with more of it: `FUZZING_FORMS=30 pytest -m long tests/demo/test_whatever_is_typed.py`.
"""

import os
import random
from collections.abc import Mapping
from datetime import datetime
from html.parser import HTMLParser
from urllib.parse import parse_qsl, urlencode, urljoin, urlsplit

import pytest
from django.contrib import admin
from django.test import Client

from idcsched.accounts.models import User
from idcsched.accounts.roles import Role
from idcsched.accounts.services import user_create

pytestmark = [pytest.mark.long, pytest.mark.usefixtures("db"), pytest.mark.timeout(900)]

TRIES = int(os.environ.get("FUZZING_FORMS", "1"))
"""How many times each form is sent, and each address asked with odd parameters."""
SEARCHED = ("app_label", "model_name", "field_name")
"""The parameters by which a field with autocompletion says which field it is."""
LEFT_ALONE = ("/admin/logout/", "/admin/login/", "/admin/jsi18n/")
TYPED = (
    *("\x00", "a\x00b", "", " ", "'", '"', "\\", "%", "é", "数据中心", "\U0001f4a9", "\u202e", "\ufffe", "०१"),
    *("-1", "0", "1", "1,5", "1e309", "-1e309", "nan", "inf", "5e-324", "9" * 19, "9" * 400, "0x10", "1_000", "²"),
    *("{", "[]", "{}", "null", "[[[[", '{"a": NaN}', '{"a": "\\u0000"}', '{"\\ud800": 1}', '"' + "a" * 300 + '"'),
    *("2026-02-30", "0001-01-01", "9999-12-31 23:59:59", "10000-01-01", "24:61", "true", "None", "on", "now"),
    *(
        "a" * 10_000,
        "<b>",
        "../..",
        "http://[",
        "https://a:b@c/",
        "file:///etc/passwd",
        "a\r\nb",
        "a=b,c=d",
        "key=value",
    ),
)
TENANTS = {Role.PORTAL, Role.VIEWER}
ASKED = (
    "q",
    "o",
    "p",
    "all",
    "e",
    "_popup",
    "_to_field",
    "_changelist_filters",
    "id__in",
    "pk",
    "code__isnull",
    "nope",
)


class Page(HTMLParser):
    """The links and the fields of a page."""

    def __init__(self, address: str, text: str) -> None:
        super().__init__()
        self.links: dict[str, None] = {}
        self.forms: list[tuple[str, dict[str, str], dict[str, list[str]]]] = []
        self._address, self._select, self._textarea = address, "", ""
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        found = {name: value or "" for name, value in attrs}
        name = found.get("name", "")
        if tag == "a" and (href := urljoin(self._address, found.get("href", ""))).startswith("/admin/"):
            self.links[href.partition("#")[0]] = None
        elif search := found.get("data-ajax--url"):
            asked = {"term": "", **{each: found.get(f"data-{each.replace('_', '-')}", "") for each in SEARCHED}}
            self.links[f"{search}?{urlencode(asked)}"] = None
        if tag == "form" and found.get("method", "").lower() == "post":
            self.forms.append((urljoin(self._address, found.get("action", "")), {}, {}))
        elif tag == "option" and self.forms and self._select:
            self._option(found)
        elif name and self.forms:
            self._field(tag, name, found)

    def _field(self, tag: str, name: str, found: Mapping[str, str]) -> None:
        _, values, choices = self.forms[-1]
        if tag == "select":
            self._select = name
            values.setdefault(name, "")
            choices[name] = []
        elif tag == "textarea":
            self._textarea = name
            values[name] = ""
        elif tag == "button" or (tag == "input" and found.get("type") == "submit"):
            choices.setdefault("", []).append(name)
        elif tag == "input" and (found.get("type") not in {"checkbox", "radio"} or "checked" in found):
            values[name] = found.get("value", "on")

    def _option(self, found: Mapping[str, str]) -> None:
        _, values, choices = self.forms[-1]
        choices[self._select].append(found.get("value", ""))
        if "selected" in found:
            values[self._select] = found.get("value", "")

    def handle_endtag(self, tag: str) -> None:
        if tag == "select":
            self._select = ""
        elif tag == "textarea":
            self._textarea = ""

    def handle_data(self, data: str) -> None:
        if self._textarea:
            self.forms[-1][1][self._textarea] += data


class Typist:
    """Somebody who visits every page that is linked, and types anything."""

    def __init__(self, user: User) -> None:
        self.user, self.chance = user, random.Random(user.username)
        self.client = Client(raise_request_exception=False, SERVER_NAME="localhost")
        self.wrong: list[str] = []
        self.let_in()

    def let_in(self) -> None:
        User.objects.filter(pk=self.user.pk).update(is_active=True, role=self.user.role)
        self.client.force_login(self.user)

    def visits(self) -> None:
        """Visit one page of each kind that can be reached, with odd parameters, too; then send its forms with odd
        values.
        """
        lists = [f"/admin/{model._meta.app_label}/{model._meta.model_name}/" for model in admin.site._registry]
        waiting, kinds, pages = ["/admin/", *lists, *(f"{each}add/" for each in lists)], set[str](), []
        while waiting:
            address = waiting.pop(0)
            if (kind := _kind(address)) in kinds or address.startswith(LEFT_ALONE):
                continue
            kinds.add(kind)
            page = self.ask("GET", address)
            if page is not None:
                pages.append(page)
                waiting += page.links
            for _ in range(TRIES):
                self.ask("GET", self.question(address, page))
        for page in pages:
            for form in page.forms:
                for _ in range(TRIES):
                    self.fill_in(*form)

    def question(self, address: str, page: Page | None) -> str:
        """Return an address that the page links to, with some of its parameters replaced by odd values."""
        path = address.partition("?")[0]
        linked = [address, *(link for link in (page.links if page else ()) if link.partition("?")[0] == path)]
        known = dict(parse_qsl(urlsplit(self.chance.choice(linked)).query))
        for name in self.chance.sample([*ASKED, *known, *known], 2):
            known[name] = self.typed()
        return f"{path}?{urlencode(known)}{self.chance.choice(['', '', '&%ff=%00', '&q=%ff', '&;&&='])}"

    def fill_in(self, action: str, values: Mapping[str, str], choices: Mapping[str, list[str]]) -> None:
        """Send the form with some of its fields filled in oddly, and one of its buttons pressed."""
        sent = dict(values)
        for name in self.chance.sample(sorted(values), min(len(values), self.chance.choice([0, 1, 1, 2, 5]))):
            sent[name] = (
                self.chance.choice(choices[name]) if choices.get(name) and self.chance.random() < 0.5 else self.typed()
            )
        if buttons := choices.get(""):
            sent[self.chance.choice(buttons)] = "1"
        self.ask("POST", action, sent)

    def typed(self) -> str:
        return self.chance.choice(TYPED)

    def ask(self, method: str, address: str, sent: Mapping[str, str] | None = None) -> Page | None:
        """Return the page, or None if the answer is no page of HTML."""
        response = self.client.get(address) if method == "GET" else self.client.post(address, sent)
        response.close()
        if response.status_code >= 500:
            self.wrong.append(f"{method} {address} {dict(sent or {})}: {response.status_code}")
        if "/login/" in response.headers.get("Location", ""):  # what was typed has shut them out
            self.let_in()
        if response.status_code != 200 or response.streaming or "html" not in response.headers["Content-Type"]:
            return None
        return Page(address.partition("?")[0], response.content.decode())


def _kind(address: str) -> str:
    """Return the kind of a page: pages of the same sort about different rows are of one kind."""
    return "/".join("_" if any(map(str.isdigit, step)) else step for step in urlsplit(address).path.split("/"))


@pytest.mark.parametrize("role", Role.values)
def test_no_page_breaks(role: str, loaded: datetime) -> None:
    typist = Typist(user_create(username="typist", role=role, tenant="demo" if role in TENANTS else None))
    typist.visits()
    assert not typist.wrong, "\n".join(typist.wrong)
