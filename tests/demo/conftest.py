"""The demo, loaded once for all tests of a file."""

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from django.test import override_settings
from django.utils import timezone
from pytest_django import DjangoDbBlocker

from idcsched.demo.loading import demo_load
from tests.database import Pristine


@pytest.fixture(scope="module")
def loaded_var(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The VAR_DIR into which the demo is loaded."""
    return tmp_path_factory.mktemp("var")


@pytest.fixture(scope="module")
def loaded(pristine: Pristine, django_db_blocker: DjangoDbBlocker, loaded_var: Path) -> Iterator[datetime]:
    """The demo as `load_demo` leaves it; gives the time of loading. Each test's own changes go with the test."""
    now = timezone.now()
    with django_db_blocker.unblock():
        with override_settings(VAR_DIR=loaded_var):
            demo_load(now=now)
        with pristine.extended():
            yield now


@pytest.fixture
def var(tmp_path: Path, settings: Any) -> Path:
    """An empty VAR_DIR."""
    settings.VAR_DIR = tmp_path
    return tmp_path
