"""For authors of collectors: the laws that every collector keeps, tried on servers that answer well and badly.

    from metrics_ingest.testing import check_collector

    def test_it_keeps_the_laws():
        check_collector(LibreNms, config=lambda address: {"url": address}, good={"ports": [{"port_id": 7}]})

Run it with Django set up (`DJANGO_SETTINGS_MODULE=idcsched.settings`). It needs no database and no network but this
machine's own, and no test runner: what does not hold is an AssertionError.
"""

import threading
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

import msgspec
from django.test import override_settings

from idcsched.framework.decoding import convert
from idcsched.framework.errors import FieldError, IdcschedError, Invalid, PluginBroken
from idcsched.outbound.testing import (
    LOOPBACK,
    Behaviour,
    closed_port,
    drip,
    hang_up,
    huge,
    json_reply,
    loopback_allowed,
    peer,
    raw_reply,
    redirect,
    short,
    silent,
    zipped_bomb,
)
from metrics_ingest.sources.kinds import check_collector_class

from .collector import Ask, Collector, Record

__all__ = ["check_collector"]

Configure = Callable[[str], Mapping[str, Any]]

NOW: Final = datetime(2031, 5, 7, 12, 2, 30, tzinfo=UTC)
TIMEOUT: Final = 0.5
GRACE: Final = 5.0
"""Above the timeout, for a machine that is busy with other things."""
SECRET: Final = "s3cret"  # noqa: S105 - of servers that live as long as a test
UNKNOWN: Final = "no_such_field"
MISBEHAVING: Final[Mapping[str, Behaviour]] = {
    "is silent": silent,
    "drips": drip,
    "hangs up": hang_up,
    "breaks off": short,
    "has failed": raw_reply(b"", 500),
    "knows nothing of it": raw_reply(b"", 404),
    "leads elsewhere": redirect("http://169.254.169.254/latest/meta-data/"),
    "sends 200 MB": huge,
    "sends a bomb": zipped_bomb,
}
NONSENSE: Final[Mapping[str, bytes]] = {
    "nothing": b"",
    "no text": b"\xff\xfe\x00\xd8",
    "a page": b"<html><body>It works!</body></html>",
    "a number": b"7",
    "a list of nothing": b"[null]",
}


def check_collector(collector: type[Collector], *, config: Configure, good: Any = None) -> None:
    """Raises AssertionError, naming the collector and the law, unless it

    - keeps the contract of its class, and takes its configuration strictly and unchanged;
    - makes records, mappings by text, of a good answer: asked twice the same, with a secret or without one;
    - changes nothing of itself;
    - raises this project's errors and no others, in time, where a server is away, silent, slow, broken or endless,
      and makes no record of such an answer, nor of nonsense.

    `config` gives the configuration with which the server at `http://127.0.0.1:port` is asked. `good` is the document,
    or the bytes, that a good server answers; one that doesn't ask over HTTP goes without, and without the laws on
    answers.
    """
    _check_class(collector)
    with override_settings(OUTBOUND_HOSTS=LOOPBACK), loopback_allowed(_Untouched()):
        _check_config(collector, config("http://127.0.0.1:9"))
        if good is not None:
            _check_good(collector, config, raw_reply(good) if isinstance(good, bytes) else json_reply(good))
        _check_failure(collector, config, f"http://127.0.0.1:{closed_port()}", "a server that is not there")
        for name, behave in MISBEHAVING.items():
            with peer(behave) as server:
                _check_failure(collector, config, _address(server), f"a server that {name}")
        for name, body in NONSENSE.items() if good is not None else ():
            with peer(raw_reply(body)) as server:
                _check_nonsense(collector, config, _address(server), f"an answer that is {name}")


class _Untouched:
    """Settings that are set already."""

    OUTBOUND_HOSTS: list[str]


class _Outcome:
    """What asking once has come to."""

    def __init__(self) -> None:
        self.records: list[Record] = []
        self.error: BaseException | None = None


def _check_class(collector: type[Collector]) -> None:
    try:
        check_collector_class(collector)
    except PluginBroken as broken:
        raise AssertionError(str(broken)) from broken
    _law(collector, bool(collector.__doc__), "its class has a docstring")
    _law(collector, bool(msgspec.json.schema(collector.Config)), "its configuration can be described")


def _check_config(collector: type[Collector], given: Mapping[str, Any]) -> None:
    """Strict, frozen, and the same after a round trip."""
    made = _config(collector, given)
    _law(collector, convert(msgspec.to_builtins(made), collector.Config) == made, "its Config survives a round trip")
    _law(collector, bool(collector.Config.__struct_config__.frozen), "its Config is frozen")
    wrong = list(collector(made).check())
    _law(collector, all(isinstance(each, FieldError) for each in wrong), "`check` gives FieldErrors")
    _law(collector, not wrong, f"`check` finds nothing wrong with a good configuration: {wrong}")
    try:
        convert({**given, UNKNOWN: 1}, collector.Config)
    except Invalid:
        return
    _law(collector, False, "an unknown field of the configuration is refused")


def _check_good(collector: type[Collector], config: Configure, behave: Behaviour) -> None:
    with peer(behave) as server:
        made = collector(_config(collector, config(_address(server)), timeout=GRACE))
        kept = dict(vars(made))
        outcomes = [_asked(made, secret) for secret in (SECRET, SECRET, None)]
        _law(collector, vars(made) == kept, "it changes nothing of itself")
    for outcome in outcomes[:2]:
        _law(collector, outcome.error is None, f"it reads a good answer: {outcome.error!r}")
    records = outcomes[0].records
    _law(collector, bool(records), "it finds something in a good answer")
    _law(collector, all(map(_is_record, records)), "its records are mappings by text")
    _law(collector, outcomes[1].records == records, "asked twice, it finds the same")
    _check_error(collector, outcomes[2], "a secret that is not there")


def _check_failure(collector: type[Collector], config: Configure, address: str, what: str) -> None:
    outcome = _asked(collector(_config(collector, config(address))), SECRET)
    _law(collector, outcome.error is not None, f"it raises on {what}")
    _check_error(collector, outcome, what)
    _law(collector, not outcome.records, f"it makes no record of {what}")


def _check_nonsense(collector: type[Collector], config: Configure, address: str, what: str) -> None:
    outcome = _asked(collector(_config(collector, config(address))), SECRET)
    _check_error(collector, outcome, what)
    _law(collector, not outcome.records, f"it makes no record of {what}")


def _check_error(collector: type[Collector], outcome: _Outcome, what: str) -> None:
    error = outcome.error
    fine = error is None or isinstance(error, IdcschedError)
    _law(collector, fine, f"on {what} it raises one of this project's errors, not {error!r}")


def _asked(made: Collector, secret: str | None) -> _Outcome:
    """Ask once, and wait no longer than for the time that it has."""
    outcome, timeout = _Outcome(), made.config.timeout_seconds

    def ask() -> None:
        try:
            outcome.records.extend(made.collect(Ask(now=NOW, timeout=timeout, secret=secret)))
        except Exception as error:  # noqa: BLE001 - which ones may be raised is what is tried
            outcome.error = error

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(timeout + GRACE)
    _law(type(made), not thread.is_alive(), "it ends when its time is over")
    return outcome


def _is_record(record: Any) -> bool:
    return isinstance(record, Mapping) and all(isinstance(name, str) for name in record)


def _config(collector: type[Collector], given: Mapping[str, Any], timeout: float = TIMEOUT) -> Any:
    return convert({**given, "timeout_seconds": timeout}, collector.Config)


def _address(server: Any) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


def _law(collector: type[Collector], kept: bool, law: str) -> None:
    if not kept:
        raise AssertionError(f"{collector.kind}: {law}")
