"""A client that signs in as a browser does, and an installation with an OpenID provider."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from html import unescape
from pathlib import Path
from typing import Protocol

import requests

from tests.browser.serving import served
from tests.e2e.installation import Installation
from tests.servers import free_port

__all__ = ["PASSWORD", "Browser", "Site", "site_with"]

PASSWORD = "correct horse battery"  # of these tests alone
PEOPLE = """
from idcsched.accounts.models import User
from idcsched.accounts.services import token_issue, user_create
for name in ("root", "ann", "bea", "cleo", "dora"):
    user_create(username=name, role="admin", password={password!r})
user_create(username="oscar", role="operator", password={password!r})
user_create(username="taken", role="admin", password={password!r})
print(token_issue(user="root", name="t").text)
"""


class Provider(Protocol):
    """An OpenID provider, honest or not."""

    @property
    def url(self) -> str: ...

    def client(self, redirect_uri: str) -> dict[str, str]: ...

    def approve(self, browser: requests.Session, address: str, subject: str) -> str: ...


class Browser(requests.Session):
    """A browser at the installation, which follows no redirect by itself."""

    def __init__(self, site: str) -> None:
        super().__init__()
        self.site = site
        self.headers["Accept"], self.headers["Accept-Language"] = "text/html, */*;q=0.8", "en"

    def to(self, path: str) -> requests.Response:
        return self.get(path if path.startswith("http") else self.site + path, allow_redirects=False)

    def fill_in(self, path: str, **fields: str) -> requests.Response:
        """Fill in the form of a page and send it."""
        found = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', self.to(path).text)
        assert found is not None, path
        form = {"csrfmiddlewaretoken": found[1], **fields}
        return self.post(self.site + path, form, allow_redirects=False)

    def password(self, name: str) -> requests.Response:
        return self.fill_in("/admin/login/?next=/console/", username=name, password=PASSWORD, next="/console/")

    def code(self, code: str) -> requests.Response:
        return self.fill_in("/admin/second-factor/", code=code)

    @property
    def known(self) -> bool:
        """Whether the browser is signed in, which admin, console and API must agree on."""
        doors = {path: self.to(path).status_code for path in ("/admin/", "/console/", "/api/v1/me/")}
        assert set(doors.values()) in ({200}, {302, 401}), doors
        return doors["/admin/"] == 200


class Site:
    """The installation with its provider, and with a token to ask for its users."""

    def __init__(self, installation: Installation, provider: Provider, token: str) -> None:
        self.installation, self.provider, self._token = installation, provider, token
        self.url = f"http://127.0.0.1:{installation.environment['PORT']}"

    def browser(self) -> Browser:
        return Browser(self.url)

    def user(self, name: str) -> dict[str, object]:
        return self.ask("GET", name).json()

    def ask(self, method: str, name: str, body: dict[str, object] | None = None) -> requests.Response:
        headers = {"Authorization": f"Bearer {self._token}"}
        return requests.request(method, f"{self.url}/api/v1/users/{name}/", json=body, headers=headers, timeout=60)

    def sign_in(self, browser: Browser, subject: str, wanted: str = "/console/") -> requests.Response:
        """Sign in by the provider; return the installation's answer when the browser comes back from there."""
        return browser.to(self.back(browser, subject, wanted))

    def back(self, browser: Browser, subject: str, wanted: str = "/console/") -> str:
        """Return the address to which the provider sends the browser back."""
        login = browser.to(f"/admin/login/?next={wanted}").text
        begin = re.search(r'href="(/admin/oidc/\?[^"]+)"', login)
        assert begin is not None
        return self.provider.approve(browser, browser.to(unescape(begin[1])).headers["Location"], subject)


@contextmanager
def site_with(folder: Path, provider: Provider, **variables: str) -> Iterator[Site]:
    """Serve an installation that knows this provider and these groups, with a few users who have passwords."""
    port = free_port()
    client = provider.client(f"http://127.0.0.1:{port}/admin/oidc/callback/")
    secret = folder / "client-secret"
    secret.write_text(client["client_secret"], encoding="ascii")
    settings = {
        "OIDC_ISSUER": provider.url,
        "OIDC_CLIENT_ID": client["client_id"],
        "OIDC_CLIENT_SECRET_FILE": str(secret),
        "OIDC_ROLES": "staff=viewer,noc=operator,idc-admins=admin",
        "OUTBOUND_HOSTS": "127.0.0.1",
        "SECOND_FACTOR": "administrators",
    }
    installation = Installation(folder, PORT=str(port), THROTTLE="off", **(settings | variables))
    installation.migrate()
    token = installation.python(PEOPLE.format(password=PASSWORD))
    with served(installation):
        yield Site(installation, provider, token)
