"""Copies of the project to run from outside."""

import sys
from pathlib import Path

import pytest

from tests.e2e.installation import Installation, cloned
from tests.servers import free_port


@pytest.fixture(scope="session")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Installation:
    """A clone that shares what is installed with this run, on a port of its own."""
    folder = tmp_path_factory.mktemp("demo")
    source = cloned(folder / "clone")
    (source / ".venv").symlink_to(Path(sys.prefix))
    return Installation(folder, source=source, PORT=str(free_port()))
