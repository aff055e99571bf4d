"""What a web process loads at its start is frozen, so that the garbage collector does not look through it later."""

from pathlib import Path

from tests.test_settings import manage

FOUND = """
import gc, idcsched.wsgi
from idcsched.scheduling.live import live
from idcsched.scheduling.recorder import recorder
live.stop(), recorder.stop()
frozen = gc.get_freeze_count()
from django.urls import resolve
views = [resolve(path) for path in ("/api/v1/schedule/", "/admin/")]
print("found", gc.isenabled(), frozen, len(gc.get_objects()))
"""


def test_it_works(tmp_path: Path) -> None:
    done = manage(tmp_path, "shell", "-c", FOUND)
    assert done.returncode == 0, done.stderr
    enabled, frozen, looked_through = done.stdout.partition("found ")[2].split()
    assert enabled == "True"
    assert int(frozen) > 100_000, "the code, with all views"
    assert int(looked_through) < int(frozen) / 10
