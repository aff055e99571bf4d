"""What a service wrote beside the row."""

from idcsched.audit.models import Change
from idcsched.feed.models import FeedEntry

__all__ = ["changes", "feed"]


def changes() -> list[tuple[str, str, str]]:
    """(action, kind, key), oldest first."""
    return list(Change.objects.order_by("id").values_list("action", "kind", "key"))


def feed() -> set[tuple[str, str]]:
    """The distinct (topic, key)."""
    return set(FeedEntry.objects.values_list("topic", "key"))
