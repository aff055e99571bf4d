"""An administrator logs in, brings a table of IDCs, sees what it would change, agrees; the new IDC is then chosen."""

import json
import re
from http.client import HTTPResponse
from http.cookiejar import CookieJar
from typing import Any
from urllib.parse import urlencode
from urllib.request import HTTPCookieProcessor, Request, build_opener

from tests.stories.fleet import chosen_by, new_fleet
from tests.stories.product import SOON, Product, name, until

BOUNDARY = "a-boundary-of-the-story"
LONG = 200
"""Seconds within which a free worker has looked a small file through, on a busy machine."""


class Browser:
    """Somebody who is logged in to the admin, with the cookies of a session."""

    def __init__(self, product: Product, who: str) -> None:
        self.address, self.cookies = product.address, CookieJar()
        self._opener = build_opener(HTTPCookieProcessor(self.cookies))
        credentials = json.loads((product.installation.var / "demo-credentials.json").read_text(encoding="utf-8"))[who]
        self.open("/admin/login/")
        self.submit("/admin/login/", username=credentials["username"], password=credentials["password"])

    def open(self, path: str, body: bytes | None = None, **headers: str) -> tuple[str, str]:
        """Request a page; return its address after redirects, and its text."""
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        response: HTTPResponse
        with self._opener.open(Request(self.address + path, body, sent), timeout=60) as response:
            return response.geturl().removeprefix(self.address), response.read().decode()

    def submit(self, path: str, **fields: str) -> tuple[str, str]:
        """Post a form with the CSRF token of the session."""
        return self.open(path, urlencode({"csrfmiddlewaretoken": self._token, **fields}).encode())

    def upload(self, path: str, file_name: str, content: str, **fields: str) -> tuple[str, str]:
        """Post a form that has a file, too."""
        named = {"csrfmiddlewaretoken": self._token, **fields}
        parts = [f'Content-Disposition: form-data; name="{each}"\r\n\r\n{value}' for each, value in named.items()]
        file = f'Content-Disposition: form-data; name="file"; filename="{file_name}"\r\nContent-Type: text/csv'
        parts.append(f"{file}\r\n\r\n{content}")
        body = "".join(f"--{BOUNDARY}\r\n{part}\r\n" for part in parts) + f"--{BOUNDARY}--\r\n"
        return self.open(path, body.encode(), Content_Type=f"multipart/form-data; boundary={BOUNDARY}")

    @property
    def _token(self) -> str:
        return next(cookie.value or "" for cookie in self.cookies if cookie.name == "csrftoken")


def state(browser: Browser, page: str) -> Any:
    _, text = browser.open(page.replace("/change/", "/progress/"))
    return json.loads(text)["state"]


def test_it_works(product: Product) -> None:
    fleet, new, message = new_fleet(product, idcs=1), name("idc"), name("list")
    question = fleet.question | {"exclude": fleet.idcs}
    browser = Browser(product, "admin")

    browser.open("/admin/transfer/import/add/?kind=idcs")
    table = f"code,name,region,stock_cpu\n{new},New,{fleet.region},64\n"
    page, _ = browser.upload(
        "/admin/transfer/import/add/", "idcs.csv", table, kind="idcs", missing="keep", message=message
    )
    assert re.fullmatch(r"/admin/transfer/import/\d+/change/", page)
    until(lambda: state(browser, page) == "checked", "the preview", seconds=LONG)
    _, preview = browser.open(page)
    assert "What would be changed" in preview
    assert new in preview
    assert chosen_by(fleet.first, question) is None

    browser.submit(page.replace("/change/", "/confirm/"))
    until(lambda: state(browser, page) == "applied", "the import", seconds=LONG)
    assert "What was changed" in browser.open(page)[1]
    until(lambda: chosen_by(fleet.first, question) == new, "the new IDC in a recommendation", seconds=SOON)

    idc = fleet.admin.get(f"/idcs/{new}/")
    assert (idc["name"], idc["region"], idc["stock"]["cpu"]) == ("New", fleet.region, 64)
    (change,) = fleet.admin.get(f"/changes/?key={new}")["results"]
    assert (change["via"], change["actor"], change["message"]) == ("import", "admin", message)
