"""How much of a promised saving is to be expected, from what earlier moves promised and what became of them."""

import pytest

from idcsched.planning.expectation import Expectation, expectation


@pytest.mark.parametrize(
    ("pairs", "factor"),
    [
        pytest.param([], 0.85, id="nothing was made: the start"),
        pytest.param([(1000, 1000)], 0.8636, id="(10 × 0.85 + 1) ÷ 11"),
        pytest.param([(1000, 1000)] * 10, 0.925, id="ten moves count as much as the start"),
        pytest.param([(1000, 1000)] * 90, 0.985, id="ninety count nine times as much"),
        pytest.param([(9000, 0), (1000, 1000)], 0.725, id="by money, a tenth is kept: (10 × 0.85 + 2 × 0.1) ÷ 12"),
        pytest.param([(1000, -9000)] * 10, 0.0, id="never below nothing"),
        pytest.param([(1000, 9000)] * 10, 1.2, id="never above 1.2"),
        pytest.param([(0, 500)], 0.85, id="what promised nothing teaches nothing"),
    ],
)
def test_it_works(pairs: list[tuple[float, float]], factor: float) -> None:
    learnt = expectation(pairs)
    assert learnt.factor == factor
    assert learnt.moves == (len(pairs) if sum(promised for promised, _ in pairs) else 0)


def test_what_is_expected_of_a_promise() -> None:
    assert Expectation().of(2000.0) == 1700.0
    assert Expectation(factor=0.5, moves=3).of(2000.0) == 1000.0
