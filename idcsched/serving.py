"""What a process that serves requests does beside answering them: follow the feed, record decisions."""

from idcsched.accounts.token_use import token_use
from idcsched.api.throttling import sharing_start
from idcsched.scheduling.live import live
from idcsched.scheduling.recorder import recorder

__all__ = ["begin"]


def begin() -> None:
    """Start it; what runs ends with the process."""
    live.follow()
    recorder.start()
    token_use.start()
    sharing_start()
