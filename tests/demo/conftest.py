"""The demo, loaded once for all tests of a file."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.db import transaction
from django.test import override_settings
from django.utils import timezone

from idcsched.demo.loading import demo_load


@pytest.fixture(scope="module")
def loaded(
    django_db_setup: None, django_db_blocker: Any, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[datetime]:
    """The demo as `load_demo` leaves it; gives the time of loading. Each test's own changes go with the test."""
    now = timezone.now()
    with django_db_blocker.unblock(), transaction.atomic():
        with override_settings(VAR_DIR=tmp_path_factory.mktemp("var")):
            demo_load(now=now)
        yield now
        transaction.set_rollback(True)


@pytest.fixture
def var(tmp_path: Path, settings: Any) -> Path:
    """An empty VAR_DIR."""
    settings.VAR_DIR = tmp_path
    return tmp_path
