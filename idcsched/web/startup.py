"""What a process that serves requests does beside answering them."""

import sys

from django.conf import settings
from django.urls import get_resolver

from idcsched.api.throttling import sharing_start
from idcsched.jobs.heap import here_for_good
from idcsched.scheduling.live import live
from idcsched.web import deadline

__all__ = ["begin"]

SWITCH_AFTER = 0.001
"""Seconds for which a thread that computes on keeps others waiting; by default it is five times as long.

An answer lets go of the interpreter's lock a dozen times and waits so long for it each time, while somebody stores
hundreds of samples, say.
"""


def begin() -> None:
    """Start it; what runs ends with the process."""
    _ = get_resolver().url_patterns  # the views, else loaded by the first request
    here_for_good()
    sys.setswitchinterval(SWITCH_AFTER)
    deadline.watch(seconds=settings.DATABASE_TIMEOUT)
    live.follow()
    sharing_start()
