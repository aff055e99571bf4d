"""`check_plugin`: for every law that it checks, a plugin that breaks the law is caught."""

from collections.abc import Mapping
from itertools import count
from typing import Annotated, Any

import msgspec
import numpy as np
import pytest

from idcsched.framework.context import Cycle, IdcView
from idcsched.framework.errors import Invalid
from idcsched.framework.plugin import Plugin, Reason, Rejection, Verdict
from idcsched.framework.snapshot import Reading
from idcsched.framework.testing import check_plugin, world

TOO_LOUD = Reason("too_loud", "too loud", "{noise:g} dB is more than {limit:g}", ("metrics",))
COUNTER = count()


class NoiseArgs(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The args of `Noise`: the largest value that it keeps."""

    limit: Annotated[float, msgspec.Meta(ge=0)] = 50.0


class Noise(Plugin):
    """A plugin that keeps IDCs with little noise, and scores less noise higher."""

    name = "noise"
    Args = NoiseArgs
    metrics = ("x",)

    def filter(self, ctx: Cycle) -> Any:
        reading, limit = ctx.metric("x"), self.args.limit
        return Verdict(
            reading.values <= limit,
            TOO_LOUD,
            lambda i: {"noise": float(reading.values[i]), "limit": limit},
            reading=reading,
        )

    def score(self, ctx: Cycle) -> Any:
        return ctx.metric("x")


def noise(**methods: Any) -> type[Plugin]:
    """`Noise` with some of its members replaced."""
    return type("Noise", (Noise,), {"__doc__": "A variant.", "__module__": __name__, **methods})


def reject_all(ctx: Cycle, reason: Reason = TOO_LOUD, numbers: Mapping[str, Any] | None = None) -> Verdict:
    """Reject every IDC for this reason with these numbers."""
    told = {"noise": 1.0, "limit": 2.0} if numbers is None else numbers
    return Verdict(np.zeros(ctx.size, dtype=np.bool_), reason, lambda _: told)


def overwrite_values(_: Plugin, ctx: Cycle) -> None:
    ctx.snapshot.metrics["x"].values[0] = 1.0


def overwrite_what_is_derived(_: Plugin, ctx: Cycle) -> None:
    ctx.snapshot.idcs.label("idc/tier").present[:] = False


def overwrite_a_mapping(_: Plugin, ctx: Cycle) -> None:
    ctx.snapshot.metrics.pop("x", None)  # type: ignore[attr-defined]


def overwrite_a_part(_: Plugin, ctx: Cycle) -> None:
    ctx.take(ctx.snapshot.idcs.latitude)[:] = 1.0


def remember(self: Plugin, ctx: Cycle) -> None:
    self.last = ctx.now


def one_place(_: Plugin, ctx: Cycle) -> Any:
    return Verdict(np.full(ctx.size, isinstance(ctx.rows, slice)), TOO_LOUD, lambda i: {"noise": 1.0, "limit": 2.0})


def judge(ctx: Cycle, keep: Any, **more: Any) -> Verdict:
    """A verdict that keeps these IDCs, and says of missing values only what `more` says."""
    return Verdict(keep, TOO_LOUD, lambda _: {"noise": 60.0, "limit": 50.0}, **more)


def keep_the_unknown(_: Plugin, ctx: Cycle) -> Any:
    return judge(ctx, ~(ctx.metric("x").values > 50))


def reject_the_unknown(_: Plugin, ctx: Cycle) -> Any:
    reading = ctx.metric("x")
    return judge(ctx, reading.known), judge(ctx, reading.values <= 50, reading=reading)


def decide_silently(_: Plugin, ctx: Cycle) -> Any:
    reading = ctx.metric("x")
    values, last = reading.values, ctx.missing.filter == "last"
    usable = ~np.isnan(values) if last else reading.known
    return judge(ctx, np.where(usable, values <= 50, ctx.missing.filter == "pass"))


def forget_the_stale(_: Plugin, ctx: Cycle) -> Any:
    reading = ctx.metric("x")
    return judge(
        ctx, reading.values <= 50, reading=reading.with_values(np.where(reading.known, reading.values, np.nan))
    )


def judge_by_room(_: Plugin, ctx: Cycle) -> Any:
    lines = ctx.snapshot.lines
    room = np.full(ctx.snapshot.size, np.inf)
    np.fmin.at(room, lines.idc, lines.room)
    return judge(ctx, ctx.take(room) > 100)


def reject_the_unknown_one(_: Plugin, ctx: Cycle, idc: IdcView) -> Rejection | None:
    noise = idc.metric("x")
    loud = noise is None or noise > 50
    return Rejection(TOO_LOUD, {"noise": noise or 0.0, "limit": 50.0}) if loud else None


def zero_for_the_unknown(_: Plugin, ctx: Cycle) -> Any:
    return np.nan_to_num(ctx.metric("x").values)


def known_for_the_stale(_: Plugin, ctx: Cycle) -> Any:
    reading = ctx.metric("x")
    return Reading(metric="x", values=reading.values, known=~np.isnan(reading.values))


def no_value_for_the_stale(_: Plugin, ctx: Cycle) -> Any:
    reading = ctx.metric("x")
    return reading.with_values(np.where(reading.known, reading.values, np.nan))


def known_but_nothing(_: Plugin, ctx: Cycle) -> Any:
    nothing = np.full(ctx.size, np.nan)
    return Reading(metric="x", values=nothing, at=nothing, known=np.ones(ctx.size, dtype=np.bool_))


def test_it_works() -> None:
    check_plugin(Noise)
    check_plugin(Noise, args={"limit": 1})


def test_worlds_and_requests_may_be_ones_own() -> None:
    asked: list[str | None] = []
    listening = noise(filter=lambda _, ctx: asked.append(ctx.request.request_id))
    check_plugin(listening, worlds=[world({"a": {}})], requests=[{"request_id": "mine"}])
    assert set(asked) == {"mine"}


@pytest.mark.parametrize(
    ("methods", "law"),
    [
        pytest.param({"name": "No Name"}, "needs a lower-case identifier", id="the contract of its class"),
        pytest.param({"__doc__": None}, "its class has a docstring", id="a docstring"),
        pytest.param(
            {"filter": lambda _, ctx: 1 / 0}, "it never fails: .*ZeroDivisionError", id="a filter that raises"
        ),
        pytest.param({"score": lambda _, ctx: 1 / 0}, "it never fails: .*ZeroDivisionError", id="a scorer that raises"),
        pytest.param(
            {"score": lambda _, ctx: ctx.snapshot.lines.room[:1].repeat(ctx.size)},
            "it never fails: .*gave .* values for",
            id="falls over where nothing is known",
        ),
        pytest.param(
            {"filter": lambda _, ctx: Verdict(np.ones(3, dtype=np.bool_), TOO_LOUD)},
            "it never fails",
            id="a wrong length",
        ),
        pytest.param(
            {"filter": lambda _, ctx: Verdict(np.ones(ctx.size), TOO_LOUD)}, "it never fails", id="a mask of floats"
        ),
        pytest.param({"score": known_but_nothing}, "it never fails: .*not finite", id="NaN that is called known"),
        pytest.param(
            {"normalize": lambda _, ctx, values: values}, "it never fails: .*out of bounds", id="scores out of bounds"
        ),
        pytest.param(
            {"score": lambda _, ctx: np.array([1.0 / (ctx.size - 1)] * ctx.size)},
            "it never fails",
            id="falls over one candidate",
        ),
        pytest.param(
            {
                "filter": lambda _, ctx: Verdict(
                    np.full(ctx.size, next(COUNTER) % 3 == 0), TOO_LOUD, lambda i: {"noise": 1, "limit": 2}
                )
            },
            "asked twice, it answers the same",
            id="not deterministic",
        ),
        pytest.param({"pre_score": overwrite_values}, "it never fails: .*read-only", id="overwrites a column"),
        pytest.param(
            {"pre_score": overwrite_what_is_derived}, "it never fails: .*read-only", id="overwrites what is derived"
        ),
        pytest.param({"pre_filter": overwrite_a_part}, "it never fails: .*read-only", id="overwrites part of a column"),
        pytest.param(
            {"pre_score": overwrite_a_mapping},
            "it never fails|answers the same|changes nothing",
            id="takes a column away",
        ),
        pytest.param({"pre_score": remember}, "it keeps nothing but its arguments", id="keeps something"),
        pytest.param({"filter": one_place}, "the same wherever its rows come from", id="depends on how rows are named"),
        pytest.param(
            {"filter": lambda _, ctx: reject_all(ctx, Reason("own", "own", "own"))},
            "its module declares the reason own",
            id="an undeclared reason",
        ),
        pytest.param(
            {"filter": lambda _, ctx: reject_all(ctx, numbers={"noise": 1.0})},
            "the details of too_loud fill its sentence: KeyError",
            id="a detail that is missing",
        ),
        pytest.param(
            {"filter": lambda _, ctx: reject_all(ctx, numbers={"noise": "loud", "limit": 1.0})},
            "the details of too_loud fill its sentence: ValueError",
            id="a detail of the wrong kind",
        ),
        pytest.param(
            {"filter": lambda _, ctx: reject_all(ctx, numbers={"noise": 1.0, "limit": 1.0, "who": object()})},
            "the details of too_loud fill its sentence: TypeError",
            id="a detail that is no JSON",
        ),
        pytest.param(
            {
                "filter": lambda _, ctx: Verdict(
                    np.ones(ctx.size, dtype=np.bool_), TOO_LOUD, None, lambda i: {"a": object()}
                )
            },
            "the figures of passing too_loud are JSON: TypeError",
            id="a figure that is no JSON",
        ),
    ],
)
def test_a_broken_law_is_named(methods: dict[str, Any], law: str) -> None:
    with pytest.raises(AssertionError, match=law):
        check_plugin(noise(**methods))


@pytest.mark.parametrize(
    ("methods", "law"),
    [
        pytest.param({"filter": keep_the_unknown}, "`reject` it keeps n1, whose x is missing", id="keeps"),
        pytest.param(
            {"filter": lambda _, ctx: None, "pre_filter": keep_the_unknown},
            "`reject` it keeps n1, whose x is missing",
            id="keeps early",
        ),
        pytest.param({"filter": reject_the_unknown}, "`pass` it rejects n1, whose x is missing", id="rejects"),
        pytest.param({"filter": decide_silently}, "`reject` nothing is put on record of n1", id="says nothing of it"),
        pytest.param({"filter": forget_the_stale}, "`last` it rejects n1, whose x is stale", id="forgets stale ones"),
        pytest.param(
            {"filter": judge_by_room}, "`reject` it keeps n1, whose bandwidth_mbps is missing", id="by the lines' room"
        ),
        pytest.param(
            {"filter": lambda _, ctx: None, "filter_one": reject_the_unknown_one},
            "`pass` it rejects n1, whose x is missing",
            id="rejects one",
        ),
        pytest.param({"score": zero_for_the_unknown}, "value of n1 for known, whose x is missing", id="scores it 0"),
        pytest.param({"score": known_for_the_stale}, "value of n1 for known, whose x is stale", id="scores stale ones"),
        pytest.param({"score": no_value_for_the_stale}, "`last` it has no value for n1", id="scores no stale ones"),
    ],
)
def test_missing_data_is_left_to_the_profile(methods: dict[str, Any], law: str) -> None:
    with pytest.raises(AssertionError, match=f"leaves missing data to the profile: .*{law}"):
        check_plugin(noise(**methods), requests=[{}])


def test_what_a_metric_of_its_own_means_is_tried_too() -> None:
    class Dust(Noise):
        """A plugin that reads metrics which no sample world has."""

        metrics = ("dust", "wind", "x")

        def filter(self, ctx: Cycle) -> Any:
            return judge(ctx, ~(ctx.metric("dust").values * ctx.metric("wind").values > 5))

    with pytest.raises(AssertionError, match="`reject` it keeps n1, whose dust is missing"):
        check_plugin(Dust, requests=[{}])


class Sound(Plugin):
    """A plugin that keeps quiet IDCs, by a metric that its args name."""

    class Args(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
        """The metric that is read."""

        metric: str = "decibel"

    name = "sound"

    def filter(self, ctx: Cycle) -> Any:
        reading = ctx.metric(self.args.metric)
        return judge(ctx, reading.values <= 50, reading=reading)


def test_it_names_what_it_reads() -> None:
    """A plugin must name its metrics: one that nothing names could be deleted although a profile in force reads it."""
    check_plugin(Sound)
    check_plugin(Sound, args={"metric": "x"})
    with pytest.raises(AssertionError, match=r"noise: it names the metrics that it reads, .*: x$"):
        check_plugin(noise(metrics=("y",)))


def test_sentences_are_filled_for_values_that_no_sample_world_has() -> None:
    class Silent(Sound):
        """A plugin whose rejections lack the numbers of their sentence."""

        def filter(self, ctx: Cycle) -> Any:
            reading = ctx.metric("decibel")
            return Verdict(reading.values <= 50, TOO_LOUD, reading=reading)

    with pytest.raises(AssertionError, match="the details of too_loud fill its sentence: KeyError"):
        check_plugin(Silent)


class LooseArgs(msgspec.Struct, frozen=True):
    """Args that accept unknown fields."""

    limit: float = 50.0


class ThawedArgs(msgspec.Struct, forbid_unknown_fields=True):
    """Args that are not frozen."""

    limit: float = 50.0


class ForgetfulArgs(msgspec.Struct, forbid_unknown_fields=True, frozen=True):
    """Args that are not equal to args of the same content."""

    limit: float = 50.0

    def __eq__(self, other: object) -> bool:
        return False

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("args", "law"),
    [
        pytest.param(LooseArgs, "an unknown argument is refused", id="strict"),
        pytest.param(ThawedArgs, "its arguments are frozen", id="frozen"),
        pytest.param(ForgetfulArgs, "its arguments survive a round trip", id="round trip"),
    ],
)
def test_arguments_have_laws_too(args: type[msgspec.Struct], law: str) -> None:
    with pytest.raises(AssertionError, match=f"noise: {law}"):
        check_plugin(noise(Args=args))


def test_arguments_that_the_plugin_refuses_are_refused() -> None:
    with pytest.raises(Invalid):
        check_plugin(Noise, args={"limit": -1})
