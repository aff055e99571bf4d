"""Every number in docs/normalising.md is what the code computes."""

from collections.abc import Iterator, Mapping

import msgspec
import numpy as np
import pytest

from idcsched.framework.facts import MetricFact
from idcsched.framework.normalize import KINDS, Better, NormalizerKind, Scale, normalize
from idcsched.framework.profile import PluginEntry
from idcsched.framework.testing import Outcome, decide_for, profile, world
from tests.docs.pages import agrees, blocks, numbers, page, section, tables

PAGE = page("normalising.md")
EXAMPLE = section(PAGE, "Why `fixed` is the default")
VALUES, TOTALS = tables(EXAMPLE)
RANGES = {"price": (0.0, 50.0), "load": (0.0, 1.0)}
WEIGHTS = {"price": 10, "load": 11}


def shown() -> Iterator[tuple[Better, NormalizerKind, str, str]]:
    """Every cell of the two tables: which way, which normaliser, the values and the scores."""
    orders: tuple[Better, ...] = ("more", "less")
    for better, table in zip(orders, tables(section(PAGE, "The five"))[1:], strict=True):
        for row in table:
            for kind in KINDS:
                yield better, kind, row["values"], row[kind]


def decided(kind: str, *idcs: str) -> Outcome:
    """The example's decision over these IDCs, all normalised by `kind`."""
    metrics = [MetricFact(code=code, direction="lower", low=low, high=high) for code, (low, high) in RANGES.items()]
    measured = {row["IDC"]: {code: float(row[code]) for code in RANGES} for row in VALUES if row["IDC"] in idcs}
    known = world({idc: {"metrics": values} for idc, values in measured.items()}, metrics=metrics)
    return decide_for(known, profile(*(_entry(code, kind) for code in RANGES)))


def _entry(code: str, kind: str) -> tuple[str, str, Mapping[str, object]]:
    normalizer = {} if kind == "fixed" else {"normalizer": {"kind": kind}}  # the plugin's own: the metric's range
    return code, "metric", {"weight": WEIGHTS[code], "args": {"metric": code}, **normalizer}


def test_it_works() -> None:
    assert [row["normaliser"] for row in tables(section(PAGE, "The five"))[0]] == list(KINDS)
    assert [row["normaliser"] for row in TOTALS] == [kind for kind in KINDS if kind != "none"]


@pytest.mark.parametrize(("better", "kind", "values", "scores"), list(shown()))
def test_scores_are_those_of_the_code(better: Better, kind: NormalizerKind, values: str, scores: str) -> None:
    scale = Scale(kind=kind, better=better, low=0.0, high=100.0)
    assert agrees(scores, normalize(np.array(numbers(values)), scale).tolist())


@pytest.mark.parametrize("row", TOTALS, ids=lambda row: row["normaliser"])
def test_totals_and_winners_are_those_of_the_engine(row: dict[str, str]) -> None:
    kind = row["normaliser"]
    before, after = decided(kind, "a", "b", "c"), decided(kind, "a", "b")

    assert (row["winner with c"], row["winner without c"]) == (before.winner, after.winner)
    for idc, column in (("a", "a, with c"), ("b", "b, with c"), ("c", "c")):
        assert agrees(row[column], [before.totals[idc]]), (idc, before.totals)
    for idc, column in (("a", "a, without c"), ("b", "b, without c")):
        assert agrees(row[column], [after.totals[idc]]), (idc, after.totals)


def test_only_fixed_keeps_its_winner() -> None:
    stable = [row["normaliser"] for row in TOTALS if row["winner with c"] == row["winner without c"]]
    assert stable == ["fixed"]


@pytest.mark.parametrize(
    ("said", "kind", "idcs", "scorer", "scores"),
    [
        ("60 points for\nthe price", "fixed", "abc", "price", {"a": 60.0}),
        ("70 for the load", "fixed", "ab", "load", {"a": 70.0}),
        ("92.3 points against 100", "min_max", "abc", "load", {"a": 92.307692, "b": 100.0}),
        ("0 points against 100", "min_max", "ab", "load", {"a": 0.0, "b": 100.0}),
    ],
)
def test_points_named_in_the_text_are_those_of_the_engine(
    said: str, kind: str, idcs: str, scorer: str, scores: dict[str, float]
) -> None:
    assert said in EXAMPLE
    found = decided(kind, *idcs).scores(scorer)
    assert {idc: found[idc].normalized for idc in scores} == scores


def test_the_entry_shown_is_one() -> None:
    (entry,) = blocks(section(PAGE, "When another one is right"), "json")
    assert msgspec.json.decode(entry, type=PluginEntry).normalizer is not None
