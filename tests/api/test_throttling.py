"""How often one token may ask, counted by one process or by several together."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from redis import RedisError

from idcsched.api import throttling
from idcsched.api.throttle_sync import ThrottleSync
from idcsched.api.throttling import Buckets, Rate, sharing, throttle_state
from tests.api.conftest import Api
from tests.servers import free_port


@pytest.fixture(autouse=True)
def _fresh() -> Iterator[None]:
    """Forget after each test what this process has counted."""
    yield
    throttling.buckets.cache_clear()
    sharing.cache_clear()


@pytest.fixture
def limited(settings: Any) -> None:
    settings.THROTTLE = "3/day"


def test_it_works(limited: None, portal: Api) -> None:
    for _ in range(3):
        portal.get("/me/")
    refused = portal.raw("GET", "/me/")
    assert refused.status_code == 429
    assert 0 < int(refused.headers["Retry-After"]) <= 24 * 3600 / 3 + 1
    assert portal.call("GET", "/me/", status=429)["code"] == "throttled"


def test_each_token_has_its_own_bucket(limited: None, api: Callable[..., Api]) -> None:
    first, second = api("portal"), api("portal")
    for _ in range(3):
        first.get("/me/")
    first.call("GET", "/me/", status=429)
    second.get("/me/")


def test_it_can_be_lifted(settings: Any, portal: Api) -> None:
    settings.THROTTLE = None
    for _ in range(10):
        portal.get("/me/")
    assert portal.get("/status/")["throttle"] == "off"


@pytest.mark.no_cover
def test_who_is_not_known_is_not_counted(limited: None, anonymous: Api) -> None:
    for _ in range(5):
        anonymous.call("GET", "/me/", status=401)
        assert anonymous.raw("GET", "/schema/").status_code == 200


@pytest.mark.parametrize(
    ("rate", "count", "interval"),
    [("5/second", 5, 0.2), ("60/minute", 60, 1.0), ("1/hour", 1, 3600), ("2/day", 2, 43200)],
)
def test_a_rate(rate: str, count: int, interval: float) -> None:
    assert (Rate.of(rate).count, Rate.of(rate).interval) == (count, interval)


def test_a_bucket_fills_evenly() -> None:
    own = Buckets(Rate.of("4/second"))
    assert [own.take("t", 100.0) for _ in range(4)] == [0, 0, 0, 0]
    assert own.take("t", 100.0) == pytest.approx(0.25)
    assert own.take("t", 100.2) == pytest.approx(0.05)
    assert own.take("t", 100.25) == 0
    assert own.take("t", 100.25) == pytest.approx(0.25)
    assert [own.take("t", 200.0) for _ in range(5)].count(0) == 4


@given(
    count=st.integers(1, 50),
    gaps=st.lists(st.floats(0, 2, allow_nan=False), min_size=1, max_size=200),
)
def test_no_window_holds_more_than_a_full_bucket_and_what_flowed_in(count: int, gaps: list[float]) -> None:
    own, now = Buckets(Rate(count, 1)), 1000.0
    passed = []
    for gap in gaps:
        now += gap
        if own.take("t", now) == 0:
            passed.append(now)
    for first in range(len(passed)):
        for last in range(first, len(passed)):
            assert last - first + 1 <= count + (passed[last] - passed[first]) * count + 1e-6


def test_many_threads_take_no_more_than_there_is() -> None:
    own, barrier = Buckets(Rate.of("100/hour")), threading.Barrier(8)

    def ask(_: int) -> int:
        barrier.wait()
        return [own.take("t", 1.0) for _ in range(50)].count(0)

    with ThreadPoolExecutor(8) as pool:
        assert sum(pool.map(ask, range(8))) == 100


def test_full_buckets_are_forgotten(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(throttling, "MANY", 10)
    own = Buckets(Rate.of("1/second"))
    for number in range(1000):
        own.take(f"t{number}", float(number))
    assert len(own._full_at) <= 11  # memory is what this is about


class TestSharing:
    """Two processes and a real Redis."""

    def pair(self, url: str, rate: str) -> tuple[tuple[Buckets, ThrottleSync], ...]:
        """Two processes with clocks that started at different times."""
        made = []
        for start in (0.0, 5000.0):
            own = Buckets(Rate.of(rate))
            made.append((own, ThrottleSync(url, own, lambda start=start: start)))  # type: ignore[misc]
        return tuple(made)

    def test_it_works(self, redis_url: str) -> None:
        (first, telling), (second, hearing) = self.pair(redis_url, "10/hour")
        assert [first.take("t", 0.0) for _ in range(8)].count(0) == 8
        telling.sync()
        assert second.take("t", 5000.0) == 0
        hearing.sync()
        assert [second.take("t", 5000.0) for _ in range(8)].count(0) == 1
        assert second.take("other", 5000.0) == 0

    def test_what_is_passed_while_it_is_told_counts(self, redis_url: str) -> None:
        (first, telling), _ = self.pair(redis_url, "10/hour")
        for _ in range(4):
            assert first.take("t", 0.0) == 0
            telling.sync()
        assert [first.take("t", 0.0) for _ in range(10)].count(0) == 6

    def test_nothing_to_tell_is_no_round_trip(self, redis_url: str) -> None:
        sharing = ThrottleSync(f"redis://127.0.0.1:{free_port()}", Buckets(Rate.of("1/hour")))
        sharing.sync()
        assert not sharing.away

    def test_without_redis_each_counts_for_itself_and_says_so(self, redis_url: str) -> None:
        own = Buckets(Rate.of("2/hour"))
        lost = ThrottleSync(f"redis://127.0.0.1:{free_port()}", own, lambda: 0.0)
        assert own.take("t", 0.0) == 0
        with pytest.raises(RedisError):
            lost.sync()
        assert lost.away
        assert own.take("t", 0.0) == 0
        assert own.take("t", 0.0) > 0

    def test_it_recovers(self, redis_url: str) -> None:
        (first, telling), _ = self.pair(redis_url, "10/hour")
        telling.away = True
        first.take("t", 0.0)
        telling.sync()
        assert not telling.away

    def test_what_is_kept_in_redis_ends_by_itself(self, redis_url: str) -> None:
        from redis import Redis  # noqa: PLC0415  # beside its only use

        (first, telling), _ = self.pair(redis_url, "2/minute")
        first.take("t", 0.0)
        telling.sync()
        with Redis.from_url(redis_url) as server:
            assert 0 < server.pttl("idcsched:throttle:t") <= 31_000

    def test_status_says_how_it_counts(self, settings: Any, redis_url: str, admin: Api) -> None:
        settings.THROTTLE = "100/hour"
        settings.REDIS_URL = ""
        assert throttle_state() == "memory"
        sharing.cache_clear()
        settings.REDIS_URL = redis_url
        assert admin.get("/status/")["throttle"] == "redis"
        tied = sharing()
        assert tied is not None
        tied.away = True
        status = admin.get("/status/")
        assert (status["throttle"], status["degraded"]) == ("redis_away", True)
