from typing import Literal

SamplesReadAgg = Literal["last", "max", "mean", "min", "p95"]

SAMPLES_READ_AGG_VALUES: set[SamplesReadAgg] = {
    "last",
    "max",
    "mean",
    "min",
    "p95",
}


def check_samples_read_agg(value: str) -> SamplesReadAgg:
    if value in SAMPLES_READ_AGG_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {SAMPLES_READ_AGG_VALUES!r}")
