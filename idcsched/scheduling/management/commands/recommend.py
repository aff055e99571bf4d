import sys
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from dataclasses import replace
from difflib import get_close_matches
from typing import Any, Final
from uuid import uuid4

import msgspec
from django.core.management.base import BaseCommand, CommandError, CommandParser

from idcsched.accounts.roles import Principal, Role
from idcsched.framework.decoding import convert, decode_json
from idcsched.framework.errors import FieldError, IdcschedError, Invalid
from idcsched.framework.matching import EFFECTS
from idcsched.framework.request import Request
from idcsched.scheduling.deciding import decide_request, tenant_of
from idcsched.scheduling.live import live
from idcsched.scheduling.recorder import recorder
from idcsched.scheduling.request_checks import request_check
from idcsched.scheduling.table import render

LOCAL: Final = Principal(user_id=0, username="recommend", role=Role.ADMIN, all_tenants=True)
"""The caller of every request here: a person who may run commands on this machine may ask for every tenant."""
UNSCHEDULABLE: Final = 2

MACHINE: Final = {
    "count": "count",
    "bandwidth": "bandwidth_mbps",
    "cpu": "cpu",
    "memory": "memory_gib",
    "disk": "disk_gib",
    "gpu": "gpu",
}
OPTION_OF: Final = {
    **{field: name for name, field in MACHINE.items()},
    "isp_match": "isp-match",
    "labels": "label",
    "request_id": "request-id",
    "tolerations": "tolerate",
    "weights": "weight",
}
"""The options of those fields of a request that have another name."""
ONE_OR_MANY: Final = frozenset({"region", "isp"})
PLAIN: Final = ("region", "isp", "isp_match", "only", "exclude", "tier", "partition", "profile", "tenant", "request_id")


class Command(BaseCommand):
    help = (
        "Say where machines should stand, and why. The request is given as options, or as the API's JSON on standard "
        "input. Exit status: 0 found, 1 refused, 2 nothing fits."
    )

    def create_parser(self, prog_name: str, subcommand: str, **kwargs: Any) -> CommandParser:
        return super().create_parser(prog_name, subcommand, usage=f"{prog_name} {subcommand} [options] | -", **kwargs)

    def run_from_argv(self, argv: list[str]) -> None:
        """Report a wrong option in one line and exit with 1, as for every refusal."""
        try:
            self.create_parser(argv[0], argv[1]).parse_args(argv[2:])
        except CommandError as refusal:
            self.stderr.write(str(refusal))
            sys.exit(1)
        super().run_from_argv(argv)

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("source", nargs="?", metavar="-", help="read the request as JSON")
        _add_where(parser)
        _add_what(parser)
        _add_how(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            live.catch_up()
            request = _request(options)
            made = decide_request(
                request=request,
                tenant=tenant_of(request, LOCAL),
                actor=LOCAL.username,
                http_request_id=str(uuid4()),
            )
        except Invalid as refusal:
            raise CommandError("; ".join(_refused(error, options) for error in refusal.errors)) from refusal
        except IdcschedError as refusal:
            raise CommandError(str(refusal)) from refusal
        scheduled = made.recorded()
        recorder.settle()
        if options["json"]:
            self.stdout.write(msgspec.json.format(msgspec.json.encode(scheduled), indent=2).decode())
        else:
            profile = live.current().profiles.get(scheduled.profile.code)
            self.stdout.write(render(scheduled, profile=profile, weights=request.weights))
        if scheduled.idc is None:
            sys.exit(UNSCHEDULABLE)


def _add_where(parser: ArgumentParser) -> None:
    where = parser.add_argument_group("where")
    where.add_argument("--region", action="append", metavar="CODE", help="sub-regions included; may be repeated")
    where.add_argument("--only", action="append", metavar="IDC", help="one of these; may be repeated")
    where.add_argument("--exclude", action="append", metavar="IDC", help="none of these; may be repeated")
    where.add_argument("--isp", action="append", metavar="CODE", help="may be repeated")
    where.add_argument("--isp-match", choices=["any", "all"], help="one of several ISPs, or each of them")
    where.add_argument("--tier", choices=["edge", "center"])
    where.add_argument("--partition")
    where.add_argument(
        "--select", action="append", metavar="KEY=VALUE", help="only IDCs with this label; of several, with all of them"
    )
    where.add_argument(
        "--prefer", action="append", metavar="KEY=VALUE:WEIGHT", help="IDCs with this label rather; may be repeated"
    )
    where.add_argument(
        "--tolerate", action="append", metavar="KEY[=VALUE][:EFFECT]", help="put up with a taint; may be repeated"
    )


def _add_what(parser: ArgumentParser) -> None:
    what = parser.add_argument_group("what")
    what.add_argument("--count", type=int, help="how many machines of this shape")
    what.add_argument("--bandwidth", type=float, metavar="MBPS", help="of each machine, as the next three")
    what.add_argument("--cpu", type=float, metavar="CORES")
    what.add_argument("--memory", type=float, metavar="GIB")
    what.add_argument("--disk", type=float, metavar="GIB")
    what.add_argument("--gpu", type=float, metavar="NUMBER")
    what.add_argument("--client", metavar="REGION|LAT,LONG", help="where the traffic comes from")
    what.add_argument("--shape", metavar="N,N,…", help="24 or 168 numbers, on any scale: how much flows in each hour")
    what.add_argument("--label", action="append", metavar="KEY=VALUE", help="about the request; may be repeated")
    what.add_argument("--tenant", metavar="CODE", help="whom it is for")
    what.add_argument("--request-id", metavar="TEXT", help="your own reference; also decides ties")


def _add_how(parser: ArgumentParser) -> None:
    how = parser.add_argument_group("how")
    how.add_argument("--profile", metavar="CODE")
    how.add_argument(
        "--weight", action="append", metavar="SCORER=NUMBER", help="instead of the profile's; may be repeated"
    )
    how.add_argument("--top", type=int, metavar="N", help="candidates shown (5)")
    how.add_argument("--explain", action="store_true", help="show every score's way, and why the others were rejected")
    how.add_argument("--json", action="store_true", help="print the API's answer")


def _request(options: Mapping[str, Any]) -> Request:
    """Return the request; raises Invalid, or CommandError for mistakes that only a command line can have."""
    document, source = _document(options), options["source"]
    if source is None:
        return _checked(convert(document | _answer_options(options), Request))
    if source != "-":
        raise CommandError(f"the request is given as options, or as - for JSON on standard input, not as {source}")
    if document:
        raise CommandError("give the request as options or as JSON, not as both")
    request = _checked(decode_json(sys.stdin.buffer.read(), Request))
    return msgspec.structs.replace(request, **_answer_options(options))


def _checked(request: Request) -> Request:
    """Return the request, if the API would accept it, too; raises Invalid."""
    request_check(request)
    return request


def _document(options: Mapping[str, Any]) -> dict[str, Any]:
    machine = {field: options[name] for name, field in MACHINE.items() if options[name] is not None}
    document = {name: _unlisted(name, options[name]) for name in PLAIN if options[name] is not None}
    if machine:
        document["machines"] = [machine]
    if options["label"]:
        document["labels"] = dict(_pairs("--label", options["label"]))
    if options["weight"]:
        document["weights"] = {name: _number(text) for name, text in _pairs("--weight", options["weight"])}
    if options["tolerate"]:
        document["tolerations"] = [_toleration(text) for text in options["tolerate"]]
    return document | _wishes(options)


def _wishes(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields about labels, the client and the hours."""
    fields: dict[str, Any] = {}
    if options["select"]:
        fields["selector"] = {"match_labels": dict(_pairs("--select", options["select"]))}
    if options["prefer"]:
        fields["prefer"] = [_preference(text) for text in options["prefer"]]
    if options["client"]:
        fields["client"] = _client(options["client"])
    if options["shape"]:
        fields["shape"] = [_number(text, "an hour of --shape") for text in options["shape"].split(",")]
    return fields


def _preference(text: str) -> dict[str, Any]:
    label, _, weight = text.rpartition(":")
    key, sign, value = label.partition("=")
    if not sign or not weight.removeprefix("-").isdecimal():
        raise CommandError(f"--prefer takes KEY=VALUE:WEIGHT, not {text}")
    return {"weight": int(weight), "match_labels": {key: value}}


def _client(text: str) -> dict[str, Any]:
    """Parse a region's code, or latitude and longitude."""
    latitude, comma, longitude = text.partition(",")
    if not comma:
        return {"region": text}
    return {"latitude": _number(latitude, "a latitude"), "longitude": _number(longitude, "a longitude")}


def _refused(error: FieldError, options: Mapping[str, Any]) -> str:
    """Say which option (in a JSON document, which field) is wrong and why, and what may have been meant."""
    detail = str(replace(error, pointer=""))
    if options["source"] == "-":
        return str(error)
    fields = [part for part in error.pointer.split("/") if part and not part.isdigit()]
    named = next((field for field in reversed(fields) if field in OPTION_OF), fields[0] if fields else "")
    params = error.params or {}
    wrong = next((str(params[name]) for name in ("name", "profile", "tenant") if name in params), "")
    meant = get_close_matches(wrong, _known(error.code), n=1)
    hint = f"; did you mean {meant[0]}?" if meant else ""
    return f"--{OPTION_OF.get(named, named)}: {detail}{hint}" if named else f"{detail}{hint}"


def _known(code: str) -> list[str]:
    """Return the names that exist of the kind that the error is about."""
    picture = live.current()
    names: dict[str, Iterable[str]] = {
        "unknown_region": picture.snapshot.regions,
        "unknown_isp": picture.snapshot.isps,
        "unknown_idc": picture.snapshot.idcs.codes,
        "unknown_profile": picture.profiles,
        "unknown_tenant": picture.tenants,
    }
    return list(names.get(code, ()))


def _unlisted(name: str, value: Any) -> Any:
    """Return a single code without its list where the request allows that, so that errors name the code and no list."""
    return value[0] if name in ONE_OR_MANY and len(value) == 1 else value


def _answer_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields about how much of the answer to show."""
    fields: dict[str, Any] = {"explain": "full"} if options["explain"] else {}
    return fields if options["top"] is None else {**fields, "top": options["top"]}


def _pairs(option: str, texts: Iterable[str]) -> Iterable[tuple[str, str]]:
    for text in texts:
        key, sign, value = text.partition("=")
        if not key or not sign:
            raise CommandError(f"{option} takes KEY=VALUE, not {text}")
        yield key, value


def _number(text: str, name: str = "a weight") -> float:
    try:
        return float(text)
    except ValueError:
        raise CommandError(f"{name} is a number, not {text}") from None


def _toleration(text: str) -> dict[str, str]:
    """Parse `key` (with any value) or `key=value`; `:Effect` narrows either."""
    head, _, last = text.rpartition(":")
    effect = last if head and last in EFFECTS else ""
    key, sign, value = (head if effect else text).partition("=")
    toleration = {"key": key, "value": value} if sign else {"key": key, "operator": "Exists"}
    return toleration | ({"effect": effect} if effect else {})
