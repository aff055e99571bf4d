"""Feed entries that every process must have read are deleted; those that one may not have read stay."""

from datetime import timedelta

import pytest
from django.utils import timezone

from idcsched.feed.models import FeedEntry
from idcsched.feed.services import feed_append
from idcsched.feed.tasks import KEPT, feed_prune

pytestmark = pytest.mark.usefixtures("db")


def test_it_works() -> None:
    feed_append(topic="taints", key="old")
    FeedEntry.objects.filter(key="old").update(at=timezone.now() - KEPT - timedelta(minutes=1))
    feed_append(topic="taints", key="new")

    assert feed_prune()["pruned"] >= 1
    assert set(FeedEntry.objects.filter(topic="taints").values_list("key", flat=True)) == {"new"}
    assert feed_prune() == {"pruned": 0}, "safe to run twice"
