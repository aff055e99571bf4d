"""Reading settings from the environment: strictly, from `NAME_FILE` too, and without ever raising.

A value that does not parse leaves its default in force and a `Problem` behind. `idcsched.apps` turns problems
into system checks, so that `manage.py check` reports all of them at once, each with a hint; processes that
serve refuse to start while there is one.
"""

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import tzinfo
from difflib import get_close_matches
from ipaddress import ip_network
from math import isfinite
from pathlib import Path
from re import fullmatch
from secrets import token_urlsafe
from typing import Generic, TypeVar
from zoneinfo import ZoneInfo

import dj_database_url

__all__ = [
    "Environment",
    "Parser",
    "Problem",
    "Variable",
    "choice",
    "currency",
    "database",
    "flag",
    "host_list",
    "integer",
    "issuer",
    "listing",
    "network_list",
    "number",
    "origin_list",
    "path",
    "rate",
    "redis_url",
    "role_table",
    "secret",
    "secret_list",
    "text",
    "web_address",
    "zone",
]

T = TypeVar("T")
Word = TypeVar("Word", bound=str)
PREFIX = "IDCSCHED_"
REPLACED: Mapping[str, str] = {
    "SECRET_REFS": "List the secrets of sources in SOURCE_SECRETS and those of providers in PROVIDER_SECRETS, each as "
    "REF@HOST, and unset SECRET_REFS."
}
"""Variables of earlier versions, with the hint what to set instead."""


@dataclass(frozen=True, slots=True)
class Parser(Generic[T]):
    """What a value must look like, in words, and the function that reads it or raises ValueError."""

    expects: str
    convert: Callable[[str], T]


@dataclass(frozen=True, slots=True, kw_only=True)
class Variable:
    """One declared variable, as `docs/settings.md` shows it."""

    name: str
    expects: str
    default: str
    help: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One fault of the environment; `code` is the last part of the check's id."""

    code: str
    variable: str
    message: str
    hint: str


class Environment:
    """The environment, from which declared variables are read; keeps the declarations and the problems."""

    def __init__(self, values: Mapping[str, str]) -> None:
        self._values = values
        self.declared: list[Variable] = []
        self.problems: list[Problem] = []

    def read(
        self, name: str, parser: Parser[T], *, default: T, help: str, shown: str | None = None, private: bool = False
    ) -> T:
        """Return the parsed value of `name` or of the file that `NAME_FILE` names; absent or empty gives `default`.

        `shown` describes a default that does not print well; the value of a `private` variable is never printed.
        """
        self.declared.append(
            Variable(name=name, expects=parser.expects, default=_shown(default) if shown is None else shown, help=help)
        )
        text = self._text(name)
        if not text:
            return default
        try:
            return parser.convert(text)
        except ValueError:
            fault = "does not parse" if private else f"is {text!r}"
            self.refuse("E001", name, f"{name} {fault}; it must be {parser.expects}.", f"Change or unset {name}.")
            return default

    def _text(self, name: str) -> str:
        direct, file_name = self._values.get(name, ""), self._values.get(f"{name}_FILE", "")
        if direct and file_name:
            self.refuse("E002", name, f"Both {name} and {name}_FILE are set.", "Keep one of the two.")
        if direct or not file_name:
            return direct.strip()
        try:
            return Path(file_name).read_text(encoding="utf-8").strip()
        except (OSError, UnicodeDecodeError) as error:
            reason = getattr(error, "strerror", None) or "it is not UTF-8 text"
            hint = f"Let {name}_FILE name a readable text file."
            self.refuse("E003", name, f"{name}_FILE cannot be read: {reason}.", hint)
            return ""

    def broken(self, variable: str) -> bool:
        """Whether `variable` was given but could not be used."""
        return any(problem.variable == variable for problem in self.problems)

    def secret_kept(self, variable: str, file: Path) -> str:
        """Return the secret in `file`, which is made at the first use, for an installation that configures none.

        Where `file` can't be written, the secret lasts as long as this process.
        """
        fresh = token_urlsafe(48)
        try:
            file.parent.mkdir(parents=True, exist_ok=True)
            _write_once(file, fresh)
            return file.read_text(encoding="ascii").strip()
        except OSError as error:
            hint = f"Set {variable}, or make {file.parent} writable."
            self.refuse("E004", variable, f"{file} cannot be kept: {error.strerror}.", hint)
            return fresh

    def unknown(self) -> list[Problem]:
        """Return a problem for each set variable with the project's prefix that is no setting: most likely misspelt."""
        names = [variable.name for variable in self.declared]
        return [
            Problem(code="W001", variable=name, message=f"{name} is set, but no such setting exists.", hint=hint)
            for name in sorted(self._values)
            if name.startswith(PREFIX)
            for near in [get_close_matches(name.removeprefix(PREFIX), names, n=1, cutoff=0.5)]
            for hint in [f"Did you mean {near[0]}?" if near else "docs/settings.md lists all settings."]
        ]

    def replaced(self) -> list[Problem]:
        """Return a problem for each set variable that only earlier versions read, with the hint what to set instead."""
        return [
            Problem(
                code="E005", variable=name, message=f"{name} is set, and no such setting exists any more.", hint=hint
            )
            for name, hint in REPLACED.items()
            if self._values.get(name) or self._values.get(f"{name}_FILE")
        ]

    def refuse(self, code: str, variable: str, message: str, hint: str) -> None:
        """Keep a problem, which may also be one that shows only when values are combined or used."""
        self.problems.append(Problem(code=code, variable=variable, message=message, hint=hint))


def _write_once(file: Path, text: str) -> None:
    """Create `file`, readable by its owner alone, whole or not at all; one that exists stays as it is."""
    if file.exists():
        return
    draft = file.with_name(f"{file.name}.{os.getpid()}")
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="ascii") as stream:
        stream.write(text)
    with suppress(FileExistsError):  # another process was quicker
        os.link(draft, file)
    draft.unlink()


def _shown(default: object) -> str:
    match default:
        case True | False:
            return "`on`" if default else "`off`"
        case None | "":
            return "–"
        case list() | tuple():
            return f"`{','.join(map(str, default))}`" if default else "–"
    return f"`{default}`"


def _flag(text: str) -> bool:
    words = {"on": True, "true": True, "yes": True, "1": True, "off": False, "false": False, "no": False, "0": False}
    try:
        return words[text.lower()]
    except KeyError:
        raise ValueError(text) from None


flag = Parser("`on` or `off`", _flag)


def integer(low: int, high: int) -> Parser[int]:
    """Return the parser of a whole number from `low` to `high`, both included."""

    def convert(text: str) -> int:
        if not fullmatch(r"-?[0-9]{1,18}", text) or not low <= int(text) <= high:
            raise ValueError(text)
        return int(text)

    return Parser(f"a whole number from {low} to {high}", convert)


def number(low: float, high: float) -> Parser[float]:
    """Return the parser of a number above `low` and up to `high`."""

    def convert(text: str) -> float:
        value = float(text)
        if not isfinite(value) or not low < value <= high:
            raise ValueError(text)
        return value

    return Parser(f"a number above {low:g}, at most {high:g}", convert)


def choice(*options: Word) -> Parser[Word]:
    """Return the parser of one of `options`, spelt exactly so."""
    by_text = {str(option): option for option in options}

    def convert(text: str) -> Word:
        try:
            return by_text[text]
        except KeyError:
            raise ValueError(text) from None

    return Parser(" or ".join(f"`{option}`" for option in options), convert)


text = Parser("text", str)
secret = Parser("random text, 50 characters or more", str)
path = Parser("a folder", lambda text: Path(text).expanduser().absolute())


def _listing(text: str) -> list[str]:
    items = [item.strip() for item in text.split(",")]
    if not all(items):
        raise ValueError(text)
    return items


listing = Parser("a list, separated by commas", _listing)


def _origins(text: str) -> list[str]:
    items = _listing(text)
    if not all(fullmatch(r"https?://[^\s/]+", item) for item in items):
        raise ValueError(text)
    return items


origin_list = Parser("a list of origins such as `https://idc.example.com`, separated by commas", _origins)


def _issuer(text: str) -> str:
    if not fullmatch(r"(https://(?=[^/])|http://(localhost|127\.0\.0\.1)(?=[:/]|\Z))[^\s?#@]*", text):
        raise ValueError(text)
    return text


issuer = Parser("an address such as `https://id.example.com/realms/example`, of HTTPS unless on this machine", _issuer)


ROLES = ("viewer", "operator", "admin")


def _role_table(text: str) -> dict[str, str]:
    pairs = [item.rpartition("=") for item in _listing(text)]
    if not all(group and role in ROLES for group, _, role in pairs):
        raise ValueError(text)
    return {group: role for group, _, role in pairs}


role_table = Parser("a list of `GROUP=ROLE`, separated by commas; ROLE is `viewer`, `operator` or `admin`", _role_table)


def _web_address(text: str) -> str:
    if not fullmatch(r"https?://[^\s/?#@]+(/[^\s?#]*)?", text):
        raise ValueError(text)
    return text


web_address = Parser("an address such as `http://collector:4318`", _web_address)


def _networks(text: str) -> list[str]:
    return [str(ip_network(item)) for item in _listing(text)]


network_list = Parser("a list of addresses or networks such as `10.0.0.0/8`, separated by commas", _networks)


HOST_NAME = r"\.?(?=.{1,253}\Z)[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*"


def _hosts(text: str) -> list[str]:
    return [item if item == "*" else _host(item) for item in _listing(text)]


def _host(item: str) -> str:
    """Parse a network or a name; a text with a colon or slash, or of digits and dots alone, must be a network."""
    if fullmatch(r"[0-9./]+|.*[:/].*", item):
        return str(ip_network(item))
    if not fullmatch(HOST_NAME, item):
        raise ValueError(item)
    return item.lower()


host_list = Parser("a list of host names, addresses and networks, or `*`, separated by commas", _hosts)


def _secrets(text: str) -> list[str]:
    return [_secret(item) for item in _listing(text)]


def _secret(item: str) -> str:
    ref, _, host = item.rpartition("@")
    if not fullmatch(r"env:[A-Za-z_][A-Za-z0-9_]*\*?|file:/.*", ref):
        raise ValueError(item)
    return f"{ref}@{host if host == '*' else _host(host)}"


secret_list = Parser(
    "a list of `REF@HOST`, separated by commas; REF is `env:NAME`, `env:BEGIN*`, `file:/path` or `file:/folder/`, "
    "HOST a host name, `.example.com`, an address, a network or `*`",
    _secrets,
)


def _zone(text: str) -> str:
    try:
        parsed: tzinfo = ZoneInfo(text)
    except (OSError, KeyError) as error:  # ZoneInfoNotFoundError is a KeyError; a folder's name gives an OSError
        raise ValueError(text) from error
    return str(parsed)


zone = Parser("a time zone's name such as `Asia/Shanghai`", _zone)


def _currency(text: str) -> str:
    if not fullmatch(r"[A-Z]{3}", text):
        raise ValueError(text)
    return text


currency = Parser("a currency's three-letter code", _currency)


def _rate(text: str) -> str | None:
    if text == "off":
        return None
    if not fullmatch(r"[1-9][0-9]{0,8}/(second|minute|hour|day)", text):
        raise ValueError(text)
    return text


rate: Parser[str | None] = Parser("`off`, or a rate such as `600/minute` (per second, minute, hour or day)", _rate)


NETWORK = {
    "connect_timeout": 3,
    "keepalives_idle": 15,
    "keepalives_interval": 5,
    "keepalives_count": 3,
    "tcp_user_timeout": 30_000,
}
"""Options by which a network that drops packets keeps a thread waiting for half a minute, not for hours."""


def _database(text: str) -> dj_database_url.DBConfig:
    config = dj_database_url.parse(text)
    engine = config["ENGINE"].rpartition(".")[2]
    if engine not in {"sqlite3", "postgresql"} or not config.get("NAME"):
        raise ValueError("neither PostgreSQL nor SQLite")
    if engine == "postgresql":
        config["OPTIONS"] = {**NETWORK, **config.get("OPTIONS", {})}
    return config


database: Parser[dj_database_url.DBConfig | None] = Parser(
    "`postgresql://user:password@host:port/name` or `sqlite:///folder/file`", _database
)


def _redis(text: str) -> str:
    if not fullmatch(r"rediss?://[^\s/]+(/[0-9]+)?(\?\S+)?", text):
        raise ValueError(text)
    return text


redis_url = Parser("`redis://host:port/number`", _redis)
