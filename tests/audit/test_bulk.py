"""Writing many rows in a few statements, with the same checks, history and feed entries as writing one."""

import pytest

from idcsched.audit import bulk, writing
from idcsched.audit.bulk import rows_create
from idcsched.audit.models import Change
from idcsched.audit.writing import write
from idcsched.feed.models import FeedEntry
from idcsched.framework.errors import Conflict, Invalid, NotFound
from idcsched.inventory.models import Region

pytestmark = pytest.mark.usefixtures("db")

rows_update, row_update = write()(bulk.rows_update), write()(writing.row_update)  # as a service calls them
AT = [f"/{index}" for index in range(1000)]


def regions(count: int) -> list[Region]:
    return Region.objects.bulk_create(Region(code=f"r-{index}") for index in range(count))


def test_it_works():
    rows = regions(3)
    updates = [(row, {"name": f"name {row.code}", "latitude": 1.0, "longitude": 2}) for row in rows]
    fresh = rows_update(updates, allowed={"name", "latitude", "longitude"})
    assert [(row.code, row.name) for row in fresh] == [(f"r-{index}", f"name r-{index}") for index in range(3)]
    assert list(Region.objects.values_list("name", "longitude")) == [(f"name r-{index}", 2.0) for index in range(3)]
    change = Change.objects.order_by("id")[1]
    assert (change.action, change.key) == ("update", "r-1")
    assert change.before == {"name": "", "latitude": None, "longitude": None}
    assert change.after == {"name": "name r-1", "latitude": 1.0, "longitude": 2.0}
    assert set(FeedEntry.objects.values_list("topic", "key")) == {("inventory", f"r-{index}") for index in range(3)}


def test_one_at_a_time_and_all_at_once_leave_the_same_history():
    one, many = regions(2)
    row_update(one, {"name": "new", "parent": None}, allowed={"name", "parent"})
    rows_update([(many, {"name": "new", "parent": None})], allowed={"name", "parent"})
    single, bulk = Change.objects.order_by("id").values("action", "kind", "before", "after")
    assert single == bulk


def test_it_takes_few_statements(django_assert_max_num_queries):
    rows, parent = regions(500), Region.objects.create(code="parent")
    with django_assert_max_num_queries(30):
        rows_update([(row, {"name": "new", "parent": parent}) for row in rows], allowed={"name", "parent"})
    assert Change.objects.count() == Region.objects.filter(name="new", parent=parent).count() == 500
    assert list(FeedEntry.objects.values_list("key", flat=True)) == [""]


def test_what_does_not_change_is_not_recorded(django_assert_max_num_queries):
    rows = regions(2)
    rows_update([(rows[0], {"name": ""}), (rows[1], {"name": "new"})], allowed={"name"})
    assert list(Change.objects.values_list("key", flat=True)) == ["r-1"]
    assert list(FeedEntry.objects.values_list("key", flat=True)) == ["r-1"]


def test_rows_are_taken_as_they_stand_in_the_database():
    (row,) = regions(1)
    Region.objects.update(latitude=1, longitude=2)
    (fresh,) = rows_update([(row, {"name": "new"})], allowed={"name"})
    assert (fresh.latitude, row.latitude, row.name) == (1, None, "")
    assert Region.objects.get().latitude == 1


def test_a_renamed_row_is_announced_under_both_names():
    (row,) = regions(1)
    rows_update([(row, {"code": "new"})], allowed={"code"})
    assert Change.objects.get().key == "r-0"
    assert set(FeedEntry.objects.values_list("key", flat=True)) == {"r-0", "new"}


def test_nothing_is_no_work(django_assert_num_queries):
    with django_assert_num_queries(0):
        assert bulk.rows_update([], allowed=set()) == rows_create([]) == []


def test_a_row_that_is_gone_is_not_found():
    rows = regions(2)
    rows[0].delete()
    with pytest.raises(NotFound):
        rows_update([(rows[1], {"name": "x"}), (Region(pk=10**9), {"name": "x"})], allowed={"name"})


def test_all_that_is_wrong_is_said_at_its_place():
    with pytest.raises(Invalid) as caught:
        rows_create([Region(code="fine"), Region(code="not fine"), Region(code="", latitude=100)], AT[:3])
    assert [(item.pointer, item.code) for item in caught.value.errors] == [
        ("/1/code", "invalid_code"),
        ("/2/latitude", "out_of_range"),
        ("/2/code", "required"),
    ]
    with pytest.raises(Invalid) as caught:
        rows_update([(row, {"colour": "red"}) for row in regions(2)], allowed={"name"}, pointers=AT[:2])
    assert [item.pointer for item in caught.value.errors] == ["/0/colour", "/1/colour"]


def test_it_stops_when_enough_is_wrong():
    with pytest.raises(Invalid) as caught:
        rows_create([Region(code="not fine") for _ in range(1000)], AT)
    assert len(caught.value.errors) == 100


@pytest.mark.both
def test_what_only_the_database_knows_is_said_of_the_very_rows():
    rows = [Region(code=f"r-{index}") for index in range(300)]
    rows[17].latitude = rows[260].latitude = 5.0
    with pytest.raises(Invalid) as caught, write():
        rows_create(rows, AT[:300])
    assert [(item.pointer, item.code) for item in caught.value.errors] == [
        ("/17/latitude", "coordinates_incomplete"),
        ("/260/latitude", "coordinates_incomplete"),
    ]
    assert not Region.objects.exists()


def test_an_update_that_the_database_refuses_changes_nothing():
    rows = regions(3)
    updates = [(row, {"longitude": 1.0, "latitude": 1.0}) for row in rows]
    updates[2][1]["latitude"] = None
    with pytest.raises(Invalid) as caught, write():
        rows_update(updates, allowed={"longitude", "latitude"}, pointers=AT[:3])
    assert [item.pointer for item in caught.value.errors] == ["/2/latitude"]
    assert not Region.objects.filter(latitude=1).exists()
    assert not Change.objects.exists()


@pytest.mark.both
@pytest.mark.parametrize("codes", [["a", "there", "b"], ["a", "twice", "twice"]])
def test_a_conflict_names_the_row(codes):
    Region.objects.create(code="there")
    with pytest.raises(Conflict) as caught, write():
        rows_create([Region(code=code) for code in codes], AT[:3])
    assert (caught.value.code, caught.value.pointer) == ("already_exists", f"/{1 if 'there' in codes else 2}")
    assert Region.objects.count() == 1
