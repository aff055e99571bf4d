import pytest

from idcsched.audit.models import Change, FeedEntry


@pytest.fixture(autouse=True)
def nothing_recorded(request: pytest.FixtureRequest) -> None:
    """Start from an empty history and feed: what the migrations wrote there is not what is tested."""
    if request.node.get_closest_marker("django_db"):
        request.getfixturevalue("transactional_db" if request.node.get_closest_marker("django_db").kwargs else "db")
        Change.objects.all().delete()
        FeedEntry.objects.all().delete()
