"""The pages about performance and scaling show the results that are kept."""

from pathlib import Path

import pytest

from bench.page import PAGES
from tests.architecture.repository import ROOT

RESULTS = ROOT / "bench" / "results"


@pytest.mark.parametrize("file", PAGES, ids=str)
def test_it_works(file: Path) -> None:
    assert (ROOT / file).read_text(encoding="utf-8") == PAGES[file](RESULTS), "run: python -m bench.page"
