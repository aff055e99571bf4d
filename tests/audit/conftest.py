import pytest

from idcsched.audit.models import Change
from idcsched.feed.models import FeedEntry


@pytest.fixture
def db(db: None) -> None:
    """Start from an empty history and feed: what the migrations wrote there is not what is tested."""
    Change.objects.all().delete()
    FeedEntry.objects.all().delete()
