"""The README's first command in a fresh clone, where nothing was ever installed."""

from pathlib import Path

import pytest

from tests.e2e.installation import Installation, cloned
from tests.e2e.running import made, said
from tests.servers import free_port


@pytest.mark.promise
@pytest.mark.long
def test_it_works(tmp_path: Path) -> None:
    installation = Installation(tmp_path, source=cloned(tmp_path / "clone"), PORT=str(free_port()))
    with made(installation, seconds=600) as run:
        lines = said(run).splitlines()
    assert lines[0].startswith("Creating .venv with Python")
    assert lines[1].startswith("Installing dependencies")
    assert not installation.processes()
    with made(installation) as run:
        assert said(run).splitlines()[0].startswith("Preparing the database"), "nothing is installed again"
