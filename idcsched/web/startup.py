"""The start of a web process and of its background work."""

import sys

from django.conf import settings
from django.urls import get_resolver

from idcsched.api.throttling import sharing_start
from idcsched.jobs.heap import freeze_loaded_objects
from idcsched.scheduling.live import live
from idcsched.web import deadline

__all__ = ["begin"]

SWITCH_AFTER = 0.001
"""Seconds after which a computing thread must release the interpreter's lock (GIL); the default is five times that.

An answer releases the lock a dozen times, and each time waits so long to get it back while another request stores
hundreds of samples, say.
"""


def begin() -> None:
    """Prepare the process and start its background work, which ends with the process."""
    _ = get_resolver().url_patterns  # the views, else loaded by the first request
    freeze_loaded_objects()
    sys.setswitchinterval(SWITCH_AFTER)
    deadline.watch(seconds=settings.DATABASE_TIMEOUT)
    live.follow()
    sharing_start()
