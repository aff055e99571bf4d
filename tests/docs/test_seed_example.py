"""Every number in docs/seed-example.md is in the data, or is what the engine answers."""

import json
import re
from collections import defaultdict
from typing import Any

from idcsched.demo.documents import seed_example
from idcsched.framework.profile import Profile
from idcsched.framework.testing import IdcSpec, Outcome, affinity, decide_for, profile, world
from tests.docs.pages import blocks, page, section, tables

PAGE = page("seed-example.md")
DATA = seed_example()
PRODUCT = re.compile(r"(\d+) × (\d+) = (\d+)")


def measured() -> dict[str, dict[str, float]]:
    found: dict[str, dict[str, float]] = defaultdict(dict)
    for sample in DATA["samples"]:
        found[sample["idc"]][sample["metric"]] = sample["value"]
    return found


def decided(**fields: Any) -> Outcome:
    """What the engine answers, on the fixture's data and under its profile."""
    values = measured()
    idcs: dict[str, IdcSpec] = {
        idc["code"]: {"region": idc["region"], "metrics": values[idc["code"]]} for idc in DATA["idcs"]
    }
    for taint in DATA["taints"]:
        idcs[taint["idc"]]["taints"] = [f"{taint['key']}={taint['value']}:{taint['effect']}"]
    preferred = [affinity(each["kind"], each["idc"], weight=each["weight"]) for each in DATA["affinities"]]
    return decide_for(world(idcs, affinities=preferred), seed_profile(), **fields)


def seed_profile() -> Profile:
    (document,) = DATA["profiles"]
    entries = [
        (entry["name"], entry["plugin"], {k: v for k, v in entry.items() if k not in ("name", "plugin")})
        for entry in document["plugins"]
    ]
    return profile(*entries)


def test_it_works() -> None:
    (asked,) = blocks(section(PAGE, "What is asked"), "json")
    outcome = decided(**{name: value for name, value in json.loads(asked).items() if name != "profile"})
    assert (outcome.winner, outcome.answer.score, outcome.answer.score_mean) == ("d", 220, 2)


def test_the_data_are_those_of_the_fixture() -> None:
    idcs, entries = tables(section(PAGE, "What is there"))
    regions = {idc["code"]: idc["region"] for idc in DATA["idcs"]}
    told = {row["IDC"]: (row["region"], {"x": float(row["X"]), "y": float(row["Y"])}) for row in idcs}
    assert told == {idc: (regions[idc], values) for idc, values in measured().items()}

    weights = [(entry["name"], entry["plugin"], entry.get("weight", 0)) for entry in DATA["profiles"][0]["plugins"]]
    assert [(row["entry"], row["plugin"], float(row["weight"].replace("–", "0"))) for row in entries] == weights


def test_the_marks_are_those_of_the_fixture() -> None:
    (taint,), (preference,) = DATA["taints"], DATA["affinities"]
    mark = f"`{taint['idc']}` carries the *taint* `{taint['key']}={taint['value']}:{taint['effect']}`"
    assert mark in PAGE
    assert (preference["kind"], preference["idc"], preference["weight"]) == ("prefer", "d", 1)


def test_who_stays_is_what_the_filters_say() -> None:
    (rows,) = tables(section(PAGE, "Step 2: who is taken out"))
    outcome = decided(region="A")

    assert [row["IDC"] for row in rows if row["so it"] == "stays"] == sorted(outcome.totals)
    assert {row["IDC"]: "untolerated_taint" for row in rows if row["so it"] != "stays"} == outcome.rejections
    assert outcome.answer.summary in PAGE
    answer = outcome.answer
    assert (answer.evaluated, answer.feasible, answer.not_visited) == (4, 3, 0)


def test_contributions_are_the_engines() -> None:
    (rows,) = tables(section(PAGE, "Step 3: what each is worth"))
    outcome = decided(region="A")

    assert {row["IDC"]: float(row["total"]) for row in rows} == outcome.totals
    assert [row["IDC"] for row in rows] == list(outcome.totals)
    for row in rows:
        for scorer, column in (("x", "10 × X"), ("y", "100 × Y")):
            told = PRODUCT.fullmatch(row[column])
            assert told is not None
            score = outcome.scores(scorer)[row["IDC"]]
            assert [float(part) for part in told.groups()] == [score.weight, score.normalized, score.contribution]


def test_the_tie_is_broken_as_told() -> None:
    affinities, *later = tables(section(PAGE, "Step 4: who of the two"))[0]
    tie = decided(region="A").answer.tie

    assert tie is not None
    assert affinities["tie-breaker"].split()[0] == tie.broken_by
    assert {idc: float(affinities[idc]) for idc in ("b", "d")} == tie.values
    assert [row["tie-breaker"].split()[0] for row in later] == ["headroom", "a"]
