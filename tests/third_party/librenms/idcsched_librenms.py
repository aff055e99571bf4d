"""`librenms`: the ports of a LibreNMS, with their rates."""

from collections.abc import Iterable, Iterator

import msgspec

from idcsched.framework.errors import FieldError
from idcsched.outbound.errors import BadReply
from metrics_ingest.collector import Ask, Collector, Record
from metrics_ingest.collectors.web import WebConfig, web_check

COLUMNS = "port_id,ifName,ifAlias,ifInOctets_rate,ifOutOctets_rate"


class Answer(msgspec.Struct, frozen=True):
    ports: list[dict[str, str | int | float | None]]


class LibreNms(Collector):
    """Asks a LibreNMS for its ports."""

    kind = "librenms"
    Config = WebConfig

    def check(self) -> Iterable[FieldError]:
        return web_check(self.config)

    def collect(self, ask: Ask) -> Iterator[Record]:
        address = f"{self.config.url.rstrip('/')}/api/v0/ports?columns={COLUMNS}"
        reply = ask.fetch(address, headers={"X-Auth-Token": ask.secret or ""})
        try:
            yield from msgspec.json.decode(reply.content, type=Answer).ports
        except msgspec.MsgspecError as error:
            raise BadReply("bad_reply", "LibreNMS sent no ports: {reason}", reason=str(error)) from None
