"""The 95th percentile: NumPy's own figure on the values that are there, by every convention."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from metrics_ingest.billing.percentile import CONVENTIONS, percentile_95

NUMPY = {"nearest_rank": "inverted_cdf"}
value = st.one_of(st.just(np.nan), st.floats(0, 1e6, width=32), st.integers(0, 5).map(float))


def by_numpy(values, convention):
    known = np.array([one for one in values if not np.isnan(one)], dtype=np.float64)
    return np.percentile(known, 95, method=NUMPY.get(convention, convention)) if known.size else np.nan


def test_it_works():
    month = np.arange(8640, dtype=np.float32)[None]
    found, known = percentile_95(month)
    assert (found[0], known[0]) == (8640 - 433, 8640), "432 of the month's 8,640 values are dropped"


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("count", [1, 2, 10, 19, 20, 21, 30, 31, 50, 288, 2016, 8639, 8640, 8928])
def test_it_is_numpys_for_every_count_that_matters(convention, count):
    values = np.random.default_rng(count).random(count).astype(np.float32)
    found, _ = percentile_95(values[None], convention=convention)
    np.testing.assert_allclose(found[0], by_numpy(values, convention), rtol=1e-12)


@given(rows=st.lists(st.lists(value, max_size=45), min_size=1, max_size=3))
def test_it_is_numpys_with_gaps_and_equal_values(rows):
    values = np.full((len(rows), 45), np.nan, dtype=np.float32)
    for place, row in enumerate(rows):
        values[place, : len(row)] = row
    for convention in CONVENTIONS:
        found, known = percentile_95(values, convention=convention)
        assert known.tolist() == [np.count_nonzero(~np.isnan(row)) for row in values]
        expected = [by_numpy(row, convention) for row in values]
        np.testing.assert_allclose(found, expected, rtol=1e-9, atol=1e-9, err_msg=convention)


def test_the_installation_says_which(settings):
    values = np.arange(8640, dtype=np.float32)[None]
    settings.PERCENTILE_CONVENTION = "higher"
    assert percentile_95(values)[0][0] == 8640 - 432
    settings.PERCENTILE_CONVENTION = "linear"
    assert percentile_95(values)[0][0] == pytest.approx(8207.05)
