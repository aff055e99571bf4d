"""An answer of a provider that is forged or meant for another sign-in signs nobody in."""

import hmac
import json
import threading
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from time import time
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
import requests
from joserfc import jwk, jwt

from tests.e2e.signing_in import Site, site_with

CLIENT = "idcsched"
OWN, OTHERS = (jwk.RSAKey.generate_key(2048, {"kid": "k"}) for _ in range(2))
Claims = dict[str, Any]


class Forger:
    """A provider that lets a test change what it says; without a change it is an honest one.

    `sign` makes the ID token of its claims, `told` is what it says of a user when asked.
    """

    def __init__(self) -> None:
        self.url, self.nonce = "", ""
        self.sign: Callable[[Claims], str] = signed
        self.told: Claims = {}

    def client(self, redirect_uri: str) -> dict[str, str]:
        return {"client_id": CLIENT, "client_secret": "secret"}

    def approve(self, browser: requests.Session, address: str, subject: str) -> str:
        asked = {name: values[0] for name, values in parse_qs(urlsplit(address).query).items()}
        self.nonce = asked["nonce"]
        return f"{asked['redirect_uri']}?code=c&state={asked['state']}"

    def answer(self, path: str) -> Claims:
        if path == "/jwks":
            return {"keys": [OWN.as_dict(private=False)]}
        if path == "/userinfo":
            return {"sub": "s", **self.told}
        if path == "/token":
            now = int(time())
            claims = {"iss": self.url, "aud": CLIENT, "sub": "s", "iat": now, "exp": now + 60, "nonce": self.nonce}
            person = {"preferred_username": "mallory", "groups": ["idc-admins"]}
            return {"access_token": "a", "token_type": "Bearer", "id_token": self.sign(claims | person)}
        endpoints = {"authorization": "authorize", "token": "token", "userinfo": "userinfo"}
        return {
            "issuer": self.url,
            "jwks_uri": f"{self.url}/jwks",
            "id_token_signing_alg_values_supported": ["RS256", "none", "HS256"],
            **{f"{name}_endpoint": f"{self.url}/{path}" for name, path in endpoints.items()},
        }


def signed(claims: Claims, key: jwk.RSAKey = OWN) -> str:
    return jwt.encode({"alg": "RS256", "kid": "k"}, claims, key)


def by_hand(header: Claims, claims: Claims, key: bytes = b"") -> str:
    """Return a token that no library would make; without a key it has no signature."""
    parts = ".".join(_base64(json.dumps(part).encode()) for part in (header, claims))
    return f"{parts}.{_base64(hmac.digest(key, parts.encode(), 'sha256')) if key else ''}"


def _base64(content: bytes) -> str:
    return urlsafe_b64encode(content).rstrip(b"=").decode()


def without(name: str) -> Callable[[Claims], str]:
    return lambda claims: signed({claim: value for claim, value in claims.items() if claim != name})


def changed(**changes: Any) -> Callable[[Claims], str]:
    return lambda claims: signed(claims | changes)


FORGED: dict[str, Callable[[Claims], str]] = {
    "another issuer": changed(iss="https://evil.example"),
    "for another client": changed(aud="another"),
    "for another client, asked by this one": changed(aud="another", azp=CLIENT),
    "for both, asked by the other": changed(aud=[CLIENT, "another"], azp="another"),
    "expired": changed(exp=int(time()) - 3600),
    "of tomorrow": changed(iat=int(time()) + 86_400),
    "another nonce": changed(nonce="n"),
    "no nonce": without("nonce"),
    "no audience": without("aud"),
    "no end": without("exp"),
    "nobody": without("sub"),
    "another's key": lambda claims: signed(claims, OTHERS),
    "the public key as a secret": lambda claims: by_hand(
        {"alg": "HS256", "kid": "k"}, claims, OWN.as_pem(private=False)
    ),
    "no signature": lambda claims: by_hand({"alg": "none", "kid": "k"}, claims),
    "no signature, by another name": lambda claims: by_hand({"alg": "RS256", "kid": "k"}, claims),
    "no token": lambda claims: "",
}


@pytest.fixture(scope="module")
def forger() -> Iterator[Forger]:
    found = Forger()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length") or 0))
            content = json.dumps(found.answer(self.path)).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        do_POST = do_GET  # noqa: N815 - the library's name

        def log_message(self, *_: Any) -> None:
            """Log nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        found.url = f"http://127.0.0.1:{server.server_port}"
        threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True).start()
        yield found
        server.shutdown()


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory, forger: Forger) -> Iterator[Site]:
    with site_with(tmp_path_factory.mktemp("site"), forger) as found:
        yield found


@pytest.fixture(autouse=True)
def honest(forger: Forger) -> None:
    forger.sign, forger.told = signed, {}


def test_it_works(site: Site) -> None:
    browser = site.browser()
    assert site.sign_in(browser, "s").status_code == 302
    assert browser.known


@pytest.mark.parametrize("sign", FORGED.values(), ids=FORGED.keys())
def test_a_forged_token_signs_nobody_in(site: Site, forger: Forger, sign: Callable[[Claims], str]) -> None:
    forger.sign = sign
    browser = site.browser()
    answer = site.sign_in(browser, "s")
    assert (answer.status_code, "not valid for this sign-in" in answer.text) == (400, True)
    assert not browser.known


def test_what_is_said_of_somebody_else_does_not_count(site: Site, forger: Forger) -> None:
    forger.told = {"sub": "another"}
    assert site.sign_in(site.browser(), "s").status_code == 400


def test_the_token_counts_more_than_what_is_said_when_asked(site: Site, forger: Forger) -> None:
    """The ID token's groups count; those that the provider tells when asked count only if the token has none."""
    forger.sign, forger.told = changed(groups=["staff"]), {"groups": ["idc-admins"]}
    site.sign_in(site.browser(), "s")
    assert site.user("mallory")["role"] == "viewer"
    forger.sign = without("groups")
    site.sign_in(site.browser(), "s")
    assert site.user("mallory")["role"] == "admin"
