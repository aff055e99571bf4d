"""The port through which a decision asks the outside: Queries in, Replies out, whatever happens."""

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
    """The reply to each, by the name of the entry that asks; all are asked at once. Never raises.

    What went wrong stands in the reply's `error`: what it means is for the profile to say.
    """
    if len(queries) > 1:
        with ThreadPoolExecutor(max_workers=min(len(queries), AT_ONCE), thread_name_prefix="outbound") as pool:
            return {reply.plugin: reply for reply in pool.map(_answered, queries)}
    return {query.plugin: _answered(query) for query in queries}


def _answered(query: Query) -> Reply:
    begun = time.monotonic()
    document, error, asked = None, None, ""
    try:
        asked = query.fingerprint
        document = _document(query)
    except Exception as failure:  # noqa: BLE001 - a body that is no JSON, say: a decision must not die of it
        error = str(failure) or type(failure).__name__
    seconds = round(time.monotonic() - begun, 6)
    return Reply(plugin=query.plugin, asked=asked, document=document, error=error, seconds=seconds)


def _document(query: Query) -> object:
    """The document, fit to be kept with the decision's inputs."""
    document = post_json(query.url, query.body, timeout=query.timeout_seconds, retries=query.retries).document
    try:
        msgspec.msgpack.encode(document)
    except OverflowError:
        raise BadReply("bad_reply", _("the reply holds a number of more than 64 bits")) from None
    return document
