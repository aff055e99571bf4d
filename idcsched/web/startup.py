"""The start of a web process and of its background work."""

import logging
import sys

from django.conf import settings
from django.db import Error, connection
from django.urls import get_resolver

from idcsched.api.throttling import sharing_start
from idcsched.framework.errors import Unavailable
from idcsched.jobs.heap import freeze_loaded_objects
from idcsched.scheduling.live import live
from idcsched.web import deadline

__all__ = ["begin"]

logger = logging.getLogger(__name__)

SWITCH_AFTER = 0.001
"""Seconds after which a computing thread must release the interpreter's lock (GIL); the default is five times that.

An answer releases the lock a dozen times, and each time waits so long to get it back while another request stores
hundreds of samples, say.
"""


def begin() -> None:
    """Prepare the process and start its background work, which ends with the process.

    The server listens once this function has returned.
    """
    _ = get_resolver().url_patterns  # the views, else loaded by the first request
    freeze_loaded_objects()
    sys.setswitchinterval(SWITCH_AFTER)
    deadline.watch(seconds=settings.DATABASE_TIMEOUT)
    live.follow()
    _know_the_inventory()
    sharing_start()


def _know_the_inventory() -> None:
    """Read the first snapshot, so that no request is refused for lack of one; go on if the database is away."""
    try:
        live.current()
    except (Unavailable, Error) as error:
        logger.warning("the server begins without a snapshot: %s", error)
    finally:
        connection.close()  # the main thread makes no other query
