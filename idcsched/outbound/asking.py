"""The port through which a decision calls outside services: takes Queries and returns Replies, and never raises."""

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import msgspec

from idcsched.framework.external import Query, Reply
from idcsched.framework.messages import _

from .client import post_json
from .errors import BadReply

__all__ = ["ask"]

AT_ONCE = 16


def ask(queries: Sequence[Query]) -> dict[str, Reply]:
    """Send all queries at once and return the replies by the name of the profile entry. Never raises.

    A failure stands in the reply's `error`; the profile says what follows from it.
    """
    if len(queries) > 1:
        with ThreadPoolExecutor(max_workers=min(len(queries), AT_ONCE), thread_name_prefix="outbound") as pool:
            return {reply.plugin: reply for reply in pool.map(_reply_to, queries)}
    return {query.plugin: _reply_to(query) for query in queries}


def _reply_to(query: Query) -> Reply:
    begun = time.monotonic()
    document, error, fingerprint = None, None, ""
    try:
        fingerprint = query.fingerprint
        document = _document(query)
    except Exception as failure:  # noqa: BLE001 - such as a body that is no JSON: a decision must survive it
        error = str(failure) or type(failure).__name__
    seconds = round(time.monotonic() - begun, 6)
    return Reply(plugin=query.plugin, asked=fingerprint, document=document, error=error, seconds=seconds)


def _document(query: Query) -> object:
    """Fetch the reply's document; raises BadReply where it can't be recorded with the decision's inputs."""
    document = post_json(query.url, query.body, timeout=query.timeout_seconds, retries=query.retries).document
    try:
        msgspec.msgpack.encode(document)
    except OverflowError:
        raise BadReply("bad_reply", _("the reply holds a number of more than 64 bits")) from None
    return document
