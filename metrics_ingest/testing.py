"""The conformance kit for authors of collectors: tries a collector on servers that answer well and badly.

    from metrics_ingest.testing import check_collector

    def test_it_keeps_the_laws():
        check_collector(LibreNms, config=lambda address: {"url": address}, good={"ports": [{"port_id": 7}]})

Run it with Django set up (`DJANGO_SETTINGS_MODULE=idcsched.settings`). It needs no database, no network beyond this
machine and no test runner: a broken law raises AssertionError.
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
"""The seconds that a collector may take beyond its timeout, since the machine may be busy."""
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
    """Try the collector; raises AssertionError, with the collector and the broken law, unless the collector

    - keeps the contract of its class, and takes its configuration strictly and unchanged;
    - makes records, mappings by text, of a good answer: asked twice the same, with a secret or without one;
    - does not change its own attributes;
    - raises this project's errors and no others, in time, where a server is away, silent, slow, broken or endless,
      and makes no record of such an answer, nor of nonsense.

    `config` returns the configuration for the server at `http://127.0.0.1:port`. `good` is the document, or the bytes,
    that a good server answers; without it, as for collectors that don't ask over HTTP, the laws on answers are skipped.
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
    """A stand-in that takes what `loopback_allowed` sets, since `override_settings` has set it already."""

    OUTBOUND_HOSTS: list[str]


class _Outcome:
    """The records and the error of one call of `collect`."""

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
    """Check that the Config is strict, frozen, and the same after a round trip."""
    config = _config(collector, given)
    copy = convert(msgspec.to_builtins(config), collector.Config)
    _law(collector, copy == config, "its Config survives a round trip")
    _law(collector, bool(collector.Config.__struct_config__.frozen), "its Config is frozen")
    errors = list(collector(config).check())
    _law(collector, all(isinstance(error, FieldError) for error in errors), "`check` gives FieldErrors")
    _law(collector, not errors, f"`check` finds nothing wrong with a good configuration: {errors}")
    try:
        convert({**given, UNKNOWN: 1}, collector.Config)
    except Invalid:
        return
    _law(collector, False, "an unknown field of the configuration is refused")


def _check_good(collector: type[Collector], config: Configure, behave: Behaviour) -> None:
    with peer(behave) as server:
        instance = collector(_config(collector, config(_address(server)), timeout=GRACE))
        attributes = dict(vars(instance))
        outcomes = [_collected(instance, secret) for secret in (SECRET, SECRET, None)]
        _law(collector, vars(instance) == attributes, "it changes nothing of itself")
    for outcome in outcomes[:2]:
        _law(collector, outcome.error is None, f"it reads a good answer: {outcome.error!r}")
    records = outcomes[0].records
    _law(collector, bool(records), "it finds something in a good answer")
    _law(collector, all(map(_is_record, records)), "its records are mappings by text")
    _law(collector, outcomes[1].records == records, "asked twice, it finds the same")
    _check_error(collector, outcomes[2], "a secret that is not there")


def _check_failure(collector: type[Collector], config: Configure, address: str, situation: str) -> None:
    outcome = _collected(collector(_config(collector, config(address))), SECRET)
    _law(collector, outcome.error is not None, f"it raises on {situation}")
    _check_error(collector, outcome, situation)
    _law(collector, not outcome.records, f"it makes no record of {situation}")


def _check_nonsense(collector: type[Collector], config: Configure, address: str, situation: str) -> None:
    outcome = _collected(collector(_config(collector, config(address))), SECRET)
    _check_error(collector, outcome, situation)
    _law(collector, not outcome.records, f"it makes no record of {situation}")


def _check_error(collector: type[Collector], outcome: _Outcome, situation: str) -> None:
    error = outcome.error
    allowed = error is None or isinstance(error, IdcschedError)
    _law(collector, allowed, f"on {situation} it raises one of this project's errors, not {error!r}")


def _collected(instance: Collector, secret: str | None) -> _Outcome:
    """Call `collect` in a thread; breaks a law if the call takes longer than its timeout and GRACE."""
    outcome, timeout = _Outcome(), instance.config.timeout_seconds

    def ask() -> None:
        try:
            outcome.records.extend(instance.collect(Ask(now=NOW, timeout=timeout, secret=secret)))
        except Exception as error:  # noqa: BLE001 - _check_error judges which exceptions are allowed
            outcome.error = error

    thread = threading.Thread(target=ask, daemon=True)
    thread.start()
    thread.join(timeout + GRACE)
    _law(type(instance), not thread.is_alive(), "it ends when its time is over")
    return outcome


def _is_record(record: Any) -> bool:
    return isinstance(record, Mapping) and all(isinstance(name, str) for name in record)


def _config(collector: type[Collector], given: Mapping[str, Any], timeout: float = TIMEOUT) -> Any:
    return convert({**given, "timeout_seconds": timeout}, collector.Config)


def _address(server: Any) -> str:
    return f"http://127.0.0.1:{server.server_address[1]}"


def _law(collector: type[Collector], holds: bool, law: str) -> None:
    if not holds:
        raise AssertionError(f"{collector.kind}: {law}")
