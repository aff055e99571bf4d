"""Imports in the background: their row says what is done, and a worker that dies leaves nothing half done."""

from datetime import timedelta
from threading import Event, Thread
from time import sleep
from typing import Any

import pytest
from django.db import connection
from django.utils import timezone

from idcsched.accounts.models import User
from idcsched.accounts.roles import Role
from idcsched.accounts.services import user_create
from idcsched.audit.models import Change
from idcsched.framework.errors import Conflict, Forbidden, Invalid
from idcsched.imports import importing, jobs, resources, services
from idcsched.imports.models import Import, State
from idcsched.imports.tasks import imports_sweep
from idcsched.inventory.models import Idc, Region
from idcsched.inventory.services import region_scope_create
from tests.e2e.installation import wait_for

pytestmark = pytest.mark.usefixtures("db")

TABLE = b"code,name,region\ngz-ct-01,New,440100\ngz-02,,440100\n"


@pytest.fixture
def anna(db: None) -> User:
    return user_create(username="anna", role=Role.ADMIN)


def brought(user: User, content: bytes = TABLE, **options: Any) -> Import:
    return services.import_create(user=user, file_name="idcs.csv", content=content, **options)


def run(job: Import) -> Import:
    services.import_run(import_id=job.pk)
    return Import.objects.get(pk=job.pk)


def test_it_works(idc, anna):
    job = run(brought(anna, message="the May list"))
    assert (job.state, job.counts["idcs"]) == ("checked", {"create": 1, "update": 1, "unchanged": 0})
    assert job.changes[1]["fields"] == [["name", "", "New"]]
    assert job.notes == ["idcs.csv: UTF-8, separated by ','"]
    assert Idc.objects.count() == 1

    services.import_confirm(job=job, user=anna)
    job = run(job)
    assert (job.state, job.done, job.total, bytes(job.content)) == ("applied", 2, 2, b"")
    recorded = set(Change.objects.filter(via="import").values_list("actor", "message", "key"))
    assert recorded == {("anna", "the May list", "gz-ct-01"), ("anna", "the May list", "gz-02")}


def test_what_is_wrong_is_kept_in_the_language_of_the_one_who_brought_it(idc, anna):
    job = run(brought(anna, b"code,region\nx,nowhere\n", language="zh-hans"))
    assert job.state == "refused"
    assert job.faults == [{"row": "2", "column": "region", "text": "没有区域 nowhere"}]


def test_a_preview_that_time_has_overtaken_is_refused(idc, anna):
    job = run(brought(anna))
    Idc.objects.update(name="Another")
    services.import_confirm(job=job, user=anna)
    job = run(job)
    assert (job.state, job.faults[0]["text"]) == (
        "refused",
        "the inventory has changed since the preview: look at it again",
    )
    assert Idc.objects.get().name == "Another"


def test_nothing_is_done_twice(idc, anna):
    job = run(brought(anna))
    assert run(job).state == "checked"
    services.import_confirm(job=job, user=anna)
    run(job)
    before = Change.objects.count()
    assert run(job).state == "applied"
    assert Change.objects.count() == before


def test_only_who_brought_it_agrees_and_only_once(idc, anna):
    job, other = run(brought(anna)), user_create(username="olga", role=Role.ADMIN)
    with pytest.raises(Forbidden):
        services.import_confirm(job=job, user=other)
    services.import_withdraw(job=job, user=anna)
    with pytest.raises(Conflict):
        services.import_confirm(job=job, user=anna)
    job = run(job)
    assert (job.state, bytes(job.content)) == ("withdrawn", b"")


@pytest.mark.parametrize("before", [{"is_active": False}, {"role": Role.OPERATOR}])
def test_what_somebody_may_is_asked_when_it_is_done(idc, anna, before):
    job = run(brought(anna))
    User.objects.filter(pk=anna.pk).update(**before)
    services.import_confirm(job=job, user=anna)
    assert run(job).state == "refused"
    assert Idc.objects.count() == 1


def test_an_operator_with_regions_stays_in_them(idc):
    olga = user_create(username="olga", role=Role.OPERATOR)
    region_scope_create(user=olga, region=Region.objects.create(code="north"))
    job = services.import_create(user=olga, file_name="taints.csv", content=b"idc,key\ngz-ct-01,k\n")
    assert run(job).faults[0]["column"] == "idc"


@pytest.mark.parametrize(
    ("options", "code"),
    [({"content": b"x" * (20 * 1024 * 1024 + 1)}, "too_large"), ({"missing": "x"}, "invalid_choice")],
)
def test_an_import_is_refused_at_once(anna, options, code):
    with pytest.raises(Invalid) as caught:
        brought(anna, **options)
    assert caught.value.code == code


@pytest.mark.both
def test_one_worker_at_a_time(idc, anna):
    job = brought(anna)
    first = jobs.claimed(job.pk)
    assert first is not None
    assert first.state == "checking"
    assert jobs.claimed(job.pk) is None
    assert run(job).state == "checking"


@pytest.mark.both
def test_a_worker_that_shows_no_sign_of_life_is_replaced_and_can_do_no_harm(idc, anna):
    job = run(brought(anna))
    services.import_confirm(job=job, user=anna)
    dead = jobs.claimed(job.pk)
    assert dead is not None
    Import.objects.update(
        beat_at=timezone.now() - timedelta(seconds=61), moved_at=timezone.now() - timedelta(minutes=2)
    )
    assert imports_sweep() == {"resumed": 1, "pruned": 0}
    assert run(job).state == "applied"
    with pytest.raises(Conflict) as caught:  # it was not dead after all
        services._run(dead, jobs.ClaimHeartbeat(dead))
    assert caught.value.code in {"claim_lost", "changed_since_preview"}
    assert Change.objects.filter(via="import").count() == 2


@pytest.mark.both
def test_a_claim_that_is_lost_at_the_last_moment_rolls_all_back(idc, anna, monkeypatch):
    job = run(brought(anna))
    services.import_confirm(job=job, user=anna)
    slow = jobs.claimed(job.pk)
    assert slow is not None
    Import.objects.update(claim=None)
    with pytest.raises(Conflict) as caught:
        services._run(slow, jobs.ClaimHeartbeat(slow))
    assert caught.value.code == "claim_lost"
    assert Idc.objects.count() == 1
    assert not Change.objects.filter(via="import").exists()


def test_a_file_that_kills_its_workers_is_given_up(idc, anna):
    job = brought(anna)
    for _ in range(3):
        assert jobs.claimed(job.pk) is not None
        Import.objects.update(beat_at=timezone.now() - timedelta(seconds=61))
    assert run(job).state == "failed"


def test_a_bug_fails_the_import_and_is_not_swallowed(idc, anna, monkeypatch):
    def broken(*args: Any, **options: Any) -> None:
        raise RuntimeError("oh")

    job = brought(anna)
    monkeypatch.setattr(services, "import_inventory", broken)
    with pytest.raises(RuntimeError):
        services.import_run(import_id=job.pk)
    job.refresh_from_db()
    assert (job.state, job.faults[0]["text"]) == ("failed", "RuntimeError: oh")


def test_the_sweep_finds_what_no_message_announced(idc, anna):
    brought(anna)
    assert imports_sweep()["resumed"] == 0  # its message may still be under way
    Import.objects.update(moved_at=timezone.now() - timedelta(seconds=11))
    assert imports_sweep()["resumed"] == 1


def test_old_imports_are_forgotten(idc, anna):
    run(brought(anna))
    waiting = brought(anna)
    Import.objects.update(moved_at=timezone.now() - timedelta(days=31))
    assert imports_sweep()["pruned"] == 1
    assert Import.objects.get() == waiting


def test_an_import_that_is_gone_is_no_work(db):
    assert services.import_run(import_id=10**9) == {"changed": 0}


@pytest.mark.postgresql
@pytest.mark.usefixtures("db")
def test_others_see_how_far_it_is(monkeypatch):
    """Another connection sees the progress while the import's own transaction is open."""
    region = Region.objects.create(code="r")
    anna = user_create(username="anna", role=Role.ADMIN)
    rows = "".join(f"i-{number},{region.code}\n" for number in range(3000))
    job = brought(anna, f"code,region\n{rows}".encode())
    monkeypatch.setattr(jobs, "INTERVAL", 0.05)
    monkeypatch.setattr(importing, "CHUNK", 1000)
    create, ended = resources.Idcs.create, Event()
    seen: list[tuple[str, int, int]] = []
    parts: list[Any] = []

    def slowly(*given: Any) -> Any:
        """Each part waits until somebody has seen that those before it are done."""
        parts.append(given)
        done = 1000 * (len(parts) - 1)
        wait_for(lambda: not done or ("checking", done, 3000) in seen, f"{done} to be seen", seconds=60)
        return create(*given)

    monkeypatch.setattr(resources.Idcs, "create", slowly)

    def watch() -> None:
        try:
            while not ended.is_set():
                seen.append(Import.objects.values_list("state", "done", "total").get(pk=job.pk))
                sleep(0.02)
        finally:
            connection.close()

    watcher = Thread(target=watch)
    watcher.start()
    try:
        services.import_run(import_id=job.pk)
    finally:
        ended.set()
        watcher.join()
    assert {("checking", 1000, 3000), ("checking", 2000, 3000)} <= set(seen)
    assert Import.objects.get().state == State.CHECKED
