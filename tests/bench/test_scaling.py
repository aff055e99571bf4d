"""Reading the load generator's output, finding the knee of the curve, and choosing one of several rounds."""

import pytest

from bench.scaling import _best, knee
from bench.serving import load_of

TOLD = """Running 3s test @ http://127.0.0.1:18427
  Thread Stats   Avg      Stdev     Max   +/- Stdev
    Latency   830.14ms  170.11ms   1.17s    72.16%
  Latency Distribution
     50%  848.76us
     75%  926.96ms
     99%    1.17s{space}
  200 requests in 3.05s, 115.96KB read
{refusals}Requests/sec:     60.00
Transfer/sec:     37.99KB
Busy: {busy}
"""


def told(busy: int = 0, refusals: str = "") -> str:
    return TOLD.format(busy=busy, refusals=refusals, space=" ")


def test_it_works() -> None:
    load = load_of(told())
    assert (load.per_second, load.refused) == (60.0, 0.0)
    assert (load.p50_ms, load.p99_ms) == pytest.approx((0.84876, 1170.0))


def test_refusals_do_not_count_as_answers() -> None:
    load = load_of(told(50, "  Non-2xx or 3xx responses: 50\n"))
    assert (load.per_second, load.refused) == (45.0, 0.25)


@pytest.mark.parametrize(
    "wrong",
    ["  Non-2xx or 3xx responses: 51\n", "  Socket errors: connect 0, read 3, write 0, timeout 0\n"],
    ids=["another answer than 503", "no answer"],
)
def test_anything_else_fails_the_measurement(wrong: str) -> None:
    with pytest.raises(AssertionError):
        load_of(told(50, wrong))


def test_the_knee_is_where_more_clients_bring_next_to_nothing() -> None:
    points = [{"clients": clients, "per_second": rate} for clients, rate in [(1, 40), (2, 75), (4, 91), (8, 100)]]
    assert knee(points)["clients"] == 4


def test_the_best_round_counts() -> None:
    """The processors' time may be that of another round, since other programs can only add to it."""
    rounds = [{"per_second": 10.0, "p50_ms": 3.0, "web_us": 5.0}, {"per_second": 12.0, "p50_ms": 4.0, "web_us": 6.0}]
    assert _best(rounds) == {"per_second": 12.0, "p50_ms": 4.0, "web_us": 5.0}
