"""`sql`: one read-only query to a PostgreSQL.

A record is one row, by the names of its columns. The query runs in a read-only transaction under a statement timeout
and is read through a cursor, so that the server never sends more rows than a run may bring. The role's privileges
decide what it may read.
"""

import select
from collections.abc import Iterable, Iterator
from decimal import Decimal
from typing import Annotated, Any, Literal

import msgspec
import psycopg2
from psycopg2.extensions import POLL_OK, POLL_READ

from idcsched.framework.errors import FieldError, Unavailable
from idcsched.framework.messages import _
from idcsched.outbound.dialling import admitted_address
from idcsched.outbound.errors import NoConnection, TooSlow
from metrics_ingest.collector import Ask, Collector, Config, Record
from metrics_ingest.sources.mapping import MAX_VALUES

__all__ = ["Sql", "SqlConfig"]

FETCH_SIZE = 1000
QUERY_CANCELED = "57014"


class SqlConfig(Config, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The password is what the source's `secret_ref` leads to. `verify-full` checks the server's certificate."""

    host: Annotated[str, msgspec.Meta(min_length=1, max_length=253, pattern=r"^[A-Za-z0-9._:-]+$")]
    port: Annotated[int, msgspec.Meta(ge=1, le=65535)] = 5432
    database: Annotated[str, msgspec.Meta(min_length=1, max_length=63)]
    user: Annotated[str, msgspec.Meta(min_length=1, max_length=63)]
    query: Annotated[str, msgspec.Meta(min_length=1, max_length=20_000)]
    sslmode: Literal["disable", "require", "verify-full"] = "verify-full"


class Sql(Collector):
    """Asks a PostgreSQL, by one SELECT."""

    kind = "sql"
    Config = SqlConfig
    config: SqlConfig

    def check(self) -> Iterable[FieldError]:
        """Refuse several statements: the driver would send them at once, and the second could end the transaction."""
        if ";" in self.config.query.strip().removesuffix(";"):
            yield FieldError("/query", "one_statement", _("one statement only; a semicolon in a text is chr(59)"))
        if "\x00" in self.config.query:
            yield FieldError("/query", "invalid_text", _("this text holds characters that can't be stored"))

    def collect(self, ask: Ask) -> Iterator[Record]:
        session = _Session(self.config, ask)
        try:
            yield from session.rows(self.config.query.strip().removesuffix(";"))
        except psycopg2.Error as error:
            raise _refusal(error, session.where) from None
        finally:
            session.close()


class _Session:
    """A connection of which no operation waits beyond the run's time limit."""

    def __init__(self, config: SqlConfig, ask: Ask) -> None:
        self._ask = ask
        self.where = f"{config.host}:{config.port}"
        address = admitted_address(config.host, config.port, within=ask.seconds_left)
        self._connection: Any = psycopg2.connect(
            host=config.host,  # the certificate is checked against it; the connection goes to hostaddr
            hostaddr=address,
            port=config.port,
            dbname=config.database,
            user=config.user,
            password=ask.secret or "",
            sslmode=config.sslmode,
            **({"sslrootcert": "system"} if config.sslmode == "verify-full" else {}),
            application_name="idcsched",
            async_=1,
        )

    def rows(self, query: str) -> Iterator[Record]:
        self._wait()
        cursor = self._connection.cursor()
        milliseconds = int(self._ask.seconds_left * 1000) + 1
        self._run(cursor, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
        self._run(cursor, f"SET LOCAL statement_timeout = {milliseconds}")
        self._run(cursor, "SET LOCAL search_path = pg_catalog, public")
        self._run(cursor, f"DECLARE found NO SCROLL CURSOR FOR {query}")
        for _fetched in range(0, MAX_VALUES + FETCH_SIZE, FETCH_SIZE):
            self._run(cursor, f"FETCH {FETCH_SIZE} FROM found")
            names = [column.name for column in cursor.description or ()]
            batch = cursor.fetchall()
            yield from (dict(zip(names, map(_plain, row), strict=True)) for row in batch)
            if len(batch) < FETCH_SIZE:
                return
        raise Unavailable("too_many", _("at most {limit} samples at once"), limit=MAX_VALUES)

    def close(self) -> None:
        self._connection.close()

    def _run(self, cursor: Any, statement: str) -> None:
        cursor.execute(statement)
        self._wait()

    def _wait(self) -> None:
        while (state := self._connection.poll()) != POLL_OK:
            waiting = [self._connection.fileno()]
            reading = state == POLL_READ
            ready = select.select(waiting if reading else [], [] if reading else waiting, [], self._ask.seconds_left)
            if not any(ready):
                detail = _("{origin} gave no whole reply in {seconds:g} s")
                raise TooSlow("too_slow", detail, origin=self.where, seconds=self._ask.timeout)


def _plain(value: Any) -> Any:
    return float(value) if isinstance(value, Decimal) else value


def _refusal(error: psycopg2.Error, where: str) -> Unavailable:
    """Return PostgreSQL's error as an Unavailable with a one-line reason."""
    reason = (getattr(error.diag, "message_primary", None) or str(error)).strip().splitlines()
    text = reason[0][:300] if reason else type(error).__name__
    if error.pgcode is None:
        return NoConnection("no_connection", _("{origin} could not be reached: {reason}"), origin=where, reason=text)
    if error.pgcode == QUERY_CANCELED:
        return TooSlow("too_slow", _("{origin} gave no whole reply in time: {reason}"), origin=where, reason=text)
    return Unavailable("query_refused", _("{origin} says: {reason}"), origin=where, reason=text)
