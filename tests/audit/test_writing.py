"""Writing a row checks, saves, records and announces it; what the database refuses is explained in its constraint's
words.
"""

import pytest
from django.db import IntegrityError, connection, transaction

from idcsched.audit import writing
from idcsched.audit.bulk import rows_create
from idcsched.audit.models import Change
from idcsched.audit.row_check import storable
from idcsched.audit.writing import below, row_create, table_locked, write
from idcsched.feed.models import FeedEntry
from idcsched.framework.errors import Conflict, Invalid, NotFound
from idcsched.inventory.models import Idc, Region
from idcsched.ledger.models import Holding

pytestmark = pytest.mark.usefixtures("db")
row_update, row_delete = write()(writing.row_update), write()(writing.row_delete)  # as a service calls them


@pytest.fixture
def region() -> Region:
    return Region.objects.create(code="A", name="before")


def test_it_works():
    region = row_create(Region(code="A", labels={"k": "v"}))
    region = row_update(region, {"name": "new"}, allowed={"name"})
    row_delete(region)
    created, updated, deleted = Change.objects.order_by("id")
    assert (created.action, created.after["code"], created.after["labels"]) == ("create", "A", {"k": "v"})
    assert (updated.before, updated.after) == ({"name": ""}, {"name": "new"})
    assert (deleted.action, deleted.key, deleted.before["name"]) == ("delete", "A", "new")
    assert list(FeedEntry.objects.values_list("topic", "key")) == [("inventory", "A")] * 3


def test_a_change_to_nothing_is_none(region):
    row_update(region, {"name": "before"}, allowed={"name"})
    assert not Change.objects.exists()
    assert not FeedEntry.objects.exists()


def test_an_update_looks_at_the_row_as_it_is_now_and_leaves_the_one_passed_in_alone(region):
    Region.objects.filter(pk=region.pk).update(latitude=1, longitude=2)
    fresh = row_update(region, {"name": "new"}, allowed={"name"})
    assert (fresh.latitude, fresh.name) == (1, "new")
    assert (region.latitude, region.name) == (None, "before")


def test_a_renamed_row_is_recorded_under_its_old_name_and_announced_under_both(region):
    row_update(region, {"code": "B"}, allowed={"code"})
    assert Change.objects.get().key == "A"
    assert list(FeedEntry.objects.values_list("key", flat=True)) == ["A", "B"]


def test_other_rows_are_recorded_by_what_people_call_them(region):
    row_create(Region(code="B", parent=region))
    assert Change.objects.get().after["parent"] == "A"


def test_many_are_created_with_few_statements(django_assert_max_num_queries):
    with django_assert_max_num_queries(10):
        rows_create([Region(code=f"r-{number}") for number in range(200)])
    assert Change.objects.filter(action="create", kind="region").count() == 200
    assert list(FeedEntry.objects.values_list("topic", "key")) == [("inventory", "")]


def test_creating_none_of_them_writes_nothing():
    assert rows_create([]) == []
    assert not FeedEntry.objects.exists()


@pytest.mark.parametrize("act", [lambda row: row_update(row, {}, allowed=set()), row_delete])
def test_a_row_that_is_gone_is_not_found(region, act):
    Region.objects.all().delete()
    with pytest.raises(NotFound):
        act(region)


def test_an_unknown_field_is_named(region):
    with pytest.raises(Invalid) as caught:
        row_update(region, {"name": "x", "colour": "red", "id": 7}, allowed={"name"})
    assert [(item.pointer, item.code) for item in caught.value.errors] == [
        ("/colour", "unknown_field"),
        ("/id", "unknown_field"),
    ]


def test_everything_that_is_wrong_is_said_at_once():
    with pytest.raises(Invalid) as caught:
        row_create(Idc(code="no code", tier="middle", latitude=float("nan"), labels=[], stock_cpu=-1))
    assert [(item.pointer, item.code) for item in caught.value.errors] == [
        ("/latitude", "not_finite"),
        ("/code", "invalid_code"),
        ("/region", "required"),
        ("/tier", "invalid_choice"),
        ("/labels", "wrong_type"),
        ("/stock_cpu", "out_of_range"),
    ]


@pytest.mark.parametrize(
    ("fields", "pointer", "code"),
    [
        pytest.param({"latitude": 10**400, "longitude": 1}, "/latitude", "out_of_range", id="larger than any float"),
        pytest.param({"latitude": "north"}, "/latitude", "wrong_type", id="a word for a number"),
        pytest.param({"name": "x" * 201}, "/name", "too_long", id="a name too long"),
        pytest.param({"name": None}, "/name", "required", id="null where there must be a text"),
        pytest.param({"name": "a\x00b"}, "/name", "invalid_text", id="a NUL in a text"),
        pytest.param({"name": "a\ud800b"}, "/name", "invalid_text", id="half of a surrogate pair"),
        pytest.param({"labels": {"a": "b\x00"}}, "/labels", "invalid_text", id="a NUL in a document"),
        pytest.param({"labels": None}, "/labels", "required", id="null for labels"),
    ],
)
def test_a_field_is_refused(fields, pointer, code):
    with pytest.raises(Invalid) as caught:
        row_create(Region(**({"code": "A"} | fields)))
    assert (caught.value.errors[0].pointer, caught.value.errors[0].code) == (pointer, code)


def test_errors_below_a_place_point_there():
    with pytest.raises(Invalid) as caught, below("/regions/3"):
        row_create(Region(code=""))
    assert caught.value.errors[0].pointer == "/regions/3/code"


@pytest.mark.both
def test_a_violated_check_is_said_in_its_own_words(region):
    with pytest.raises(Invalid) as caught, write():
        row_update(region, {"latitude": 1.0}, allowed={"latitude"})
    assert caught.value.code == "coordinates_incomplete"
    assert caught.value.errors[0].pointer == "/latitude"
    assert "both or neither" in caught.value.detail


@pytest.mark.both
def test_a_second_one_of_a_name_is_a_conflict(region):
    with pytest.raises(Conflict) as caught, write():
        row_create(Region(code="A"))
    assert caught.value.code == "already_exists"
    assert Region.objects.count() == 1


def test_what_is_needed_can_not_be_deleted(region):
    for number in range(4):
        Region.objects.create(code=f"b{number}", parent=region)
    with pytest.raises(Conflict) as caught, write():
        row_delete(region)
    assert caught.value.code == "in_use"
    assert caught.value.detail == "in use by region b0, region b1, region b2, …"


@pytest.mark.both
@pytest.mark.usefixtures("db")
def test_a_reference_to_what_is_gone_is_a_conflict(region):
    with pytest.raises(Conflict) as caught, write():
        Holding.objects.create(idc_id=4711, resource="cpu")
    assert caught.value.code == "in_use"


def test_what_no_constraint_explains_is_not_hidden(region):
    with pytest.raises(IntegrityError), write():
        Region.objects.filter(pk=region.pk).update(labels=None)


def test_a_failed_service_leaves_nothing_behind(region):
    @write()
    def service() -> None:
        row_update(region, {"name": "new"}, allowed={"name"})
        row_create(Region(code=""))

    with pytest.raises(Invalid):
        service()
    region.refresh_from_db()
    assert region.name == "before"
    assert not Change.objects.exists()
    assert not FeedEntry.objects.exists()


@pytest.mark.postgresql
@pytest.mark.usefixtures("db")
def test_a_locked_table_can_be_read_but_not_written():
    with transaction.atomic():
        table_locked(Region)
        with connection.cursor() as cursor:
            cursor.execute(
                "SELECT mode FROM pg_locks JOIN pg_class ON oid = relation WHERE relname = 'inventory_region'"
            )
            assert ("ShareRowExclusiveLock",) in cursor.fetchall()


@pytest.mark.parametrize(
    ("value", "expected"),
    [("text", True), ({"a": ["b"]}, True), (7, True), (["\x00"], False), ({"\ud800": 1}, False), ("😀", True)],
)
def test_what_can_be_stored_everywhere(value, expected):
    assert storable(value) is expected
