"""What the services have recorded: changes in the history, and entries of the feed."""

from idcsched.audit.models import Change
from idcsched.feed.models import FeedEntry

__all__ = ["changes", "feed"]


def changes() -> list[tuple[str, str, str]]:
    """The (action, kind, key) of each change in the history, oldest first."""
    return list(Change.objects.order_by("id").values_list("action", "kind", "key"))


def feed() -> set[tuple[str, str]]:
    """The distinct (topic, key) of the feed's entries."""
    return set(FeedEntry.objects.values_list("topic", "key"))
