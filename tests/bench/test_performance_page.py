"""docs/performance.md says what the results that are kept say, and so do its plots."""

from bench.page import PAGE, page, plots
from tests.architecture.repository import ROOT

RESULTS = ROOT / "bench" / "results"


def test_it_works() -> None:
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page(RESULTS), "run: python -m bench.page"


def test_the_plots_are_those_of_the_results() -> None:
    drawn = plots(RESULTS)
    folder = ROOT / "docs" / "growth"
    assert {file.name: file.read_text(encoding="utf-8") for file in folder.iterdir()} == drawn
