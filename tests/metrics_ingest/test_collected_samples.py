"""What collectors bring: the sound samples are stored, the others counted with their reasons."""

from datetime import datetime, timedelta

import pytest
from msgspec.structs import replace

from idcsched.feed.models import FeedEntry
from idcsched.framework.errors import FieldError, Invalid
from idcsched.inventory.models import Line
from metrics_ingest.models import Latest, SampleDay
from metrics_ingest.services import MAX_COLLECTED, Collected, Refusal, Sample, samples_collect

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture
def sample(line: Line, now: datetime) -> Sample:
    return Sample(idc="gz-01", line="ct", metric="bandwidth_mbps", value=250.5, at=now)


def test_it_works(sample, now):
    FeedEntry.objects.all().delete()
    bad = replace(sample, metric="cpu_load", line=None, value=-1.0)
    assert samples_collect(samples=[bad, sample], now=now) == Collected(
        stored=1,
        refused={"out_of_range": 1},
        examples=[
            Refusal(
                sample=bad,
                reason=FieldError(
                    "/value", "out_of_range", "this must lie between {low:g} and {high:g}", {"low": 0.0, "high": 1.0}
                ),
            )
        ],
    )
    assert list(Latest.objects.values_list("metric__code", "value")) == [("bandwidth_mbps", 250.5)]
    assert list(FeedEntry.objects.values_list("topic", "key")) == [("metrics", "bandwidth_mbps")]


def test_nothing_sound_is_nothing_stored_and_nobody_is_told(sample, now):
    FeedEntry.objects.all().delete()
    found = samples_collect(samples=[replace(sample, idc="nowhere")], now=now)
    assert (found.stored, found.refused) == (0, {"unknown_idc": 1})
    assert not Latest.objects.exists()
    assert not SampleDay.objects.exists()
    assert not FeedEntry.objects.exists()


def test_of_each_reason_a_few_are_shown_and_all_counted(sample, now):
    strange = [replace(sample, idc=f"no-{number}") for number in range(50)]
    late = [replace(sample, at=now - timedelta(days=50))]
    found = samples_collect(samples=[*strange, sample, *late], now=now)
    assert (found.stored, found.refused) == (1, {"unknown_idc": 50, "too_old": 1})
    assert [example.sample.idc for example in found.examples] == ["no-0", "no-1", "no-2", "gz-01"]


def test_a_sample_counts_once_for_the_first_thing_wrong_with_it(sample, now):
    found = samples_collect(samples=[replace(sample, idc="nowhere", metric="mood", value=float("nan"))], now=now)
    assert (found.stored, found.refused, len(found.examples)) == (0, {"unknown_idc": 1}, 1)


def test_too_many_at_once(sample, now):
    with pytest.raises(Invalid) as caught:
        samples_collect(samples=[sample] * (MAX_COLLECTED + 1), now=now)
    assert caught.value.code == "too_many"
