"""docs/performance.md says what the results that are kept say."""

from bench.page import PAGE, page
from tests.architecture.repository import ROOT

RESULTS = ROOT / "bench" / "results"


def test_it_works() -> None:
    assert (ROOT / PAGE).read_text(encoding="utf-8") == page(RESULTS), "run: python -m bench.page"
