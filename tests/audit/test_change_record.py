"""What the change history keeps of a change."""

from datetime import UTC, datetime

import pytest
from django.db import IntegrityError, transaction

from idcsched.audit.context import origin, origin_set
from idcsched.audit.models import Change
from idcsched.audit.services import change_record

pytestmark = pytest.mark.usefixtures("db")


def test_it_works():
    with origin_set(actor="olga", via="admin", request_id="r-1", message="as agreed"):
        change_record(
            kind="idc", key="gz-ct-01", before={"tier": "edge", "name": "a"}, after={"tier": "center", "name": "a"}
        )
    change = Change.objects.get()
    assert (change.actor, change.via, change.request_id, change.message) == ("olga", "admin", "r-1", "as agreed")
    assert (change.action, change.kind, change.key) == ("update", "idc", "gz-ct-01")
    assert (change.before, change.after) == ({"tier": "edge"}, {"tier": "center"})
    assert str(change) == "olga updated idc gz-ct-01"


def test_nothing_changed_is_no_change():
    assert change_record(kind="idc", key="a", before={"tier": "edge"}, after={"tier": "edge"}) is None
    assert not Change.objects.exists()


def test_a_creation_has_no_before_and_a_deletion_no_after():
    change_record(kind="isp", key="ct", before=None, after={"code": "ct"})
    change_record(kind="isp", key="ct", before={"code": "ct"}, after=None)
    deleted, created = Change.objects.all()
    assert (created.action, created.before, created.after) == ("create", None, {"code": "ct"})
    assert (deleted.action, deleted.before, deleted.after) == ("delete", {"code": "ct"}, None)


def test_a_field_that_only_one_side_has_differs():
    change = change_record(kind="profile", key="p", before={"a": 1}, after={"b": None})
    assert change is not None
    assert (change.before, change.after) == ({"a": 1}, {"b": None})


def test_times_are_kept_readable():
    change_record(kind="taint", key="t", before=None, after={"starts_at": datetime(2030, 1, 1, tzinfo=UTC)})
    assert Change.objects.get().after == {"starts_at": "2030-01-01T00:00:00Z"}


def test_neither_before_nor_after_is_a_mistake():
    with pytest.raises(ValueError, match="before or an after"):
        change_record(kind="idc", key="a", before=None, after=None)


def test_origins_nest_and_end():
    outside = origin()
    with origin_set(actor="a", via="api"):
        with origin_set(actor="b", via="task"):
            assert origin().actor == "b"
        assert origin().actor == "a"
    assert origin() == outside


@pytest.mark.parametrize(
    "fields",
    [
        pytest.param({"via": "telepathy"}, id="an unknown way"),
        pytest.param({"action": "create", "before": {}, "after": {}}, id="a creation with a before"),
        pytest.param({"action": "delete", "before": {}, "after": {}}, id="a deletion with an after"),
        pytest.param({"action": "update", "before": None, "after": {}}, id="an update without a before"),
        pytest.param({"action": "guess", "before": None, "after": {}}, id="an unknown action"),
    ],
)
def test_the_database_refuses(fields):
    sound = {"actor": "a", "via": "api", "action": "update", "kind": "idc", "key": "a", "before": {}, "after": {}}
    with pytest.raises(IntegrityError), transaction.atomic():
        Change.objects.create(**(sound | fields))
