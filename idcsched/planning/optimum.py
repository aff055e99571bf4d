"""The cheapest assignment of orders to places, as a mixed-integer program that HiGHS solves.

An option is one order in one place: one IDC, with the lines that the order would use there. Each order gets one of its
options or none. The options chosen take no more of a resource (a line's room, an IDC's stock) than there is. As many
orders as possible are placed; among such assignments the one with the smallest bill is the optimum.

The bill of a line is the formula of `framework.billing`, for all orders on the line together. At each of five levels of
the line's traffic some Mbps are paid for anyway and free to be used. What the orders need beyond these is billed, as
far as it flows in the line's busiest hours; the free Mbps go to the orders that would be billed for most. So the bill
is convex and piecewise linear, and that of one order alone is the formula's.
"""

import time
from typing import Any, Final, Literal

import highspy
import msgspec
import numpy as np

from idcsched.framework.labels import Mask, Rows
from idcsched.framework.normalize import DECIMALS, Floats

__all__ = ["NOWHERE", "Optimum", "Problem", "Uses", "bill_of", "bills_by_line", "solve"]

NOWHERE: Final = -1
"""The option of an order that is left out."""
GAP: Final = 1e-4
"""The gap at which an assignment counts as the optimum: a ten-thousandth of the bill."""
BETTER_RANKED: Final = 1e-3
"""What the worst-ranked option of an order counts more than the best-ranked, so that equal bills go by rank."""
ROUNDING: Final = 1e-6
"""Mbps, cores or GiB that are less than this are none."""
OPTIONS: Final[dict[str, Any]] = {"output_flag": False, "threads": 1, "mip_rel_gap": GAP}
OPTIMAL: Final = highspy.HighsModelStatus.kOptimal
FEASIBLE: Final = highspy.SolutionStatus.kSolutionStatusFeasible
CORE_OPTIONS: Final = 2
"""How many options of each order are in the core at least."""
FOR_THE_CORE: Final = 0.7
"""The share of the time that the search among the core may take."""
TO_PLACE_MORE: Final = 1 / 3
"""The share of the time that the search for an assignment of more orders may take."""
Objective = Literal["placed", "bill"]
Status = Literal["optimal", "time_limit", "nothing_found"]


class Uses(msgspec.Struct, frozen=True):
    """Each entry is one option, one thing that the option uses (a resource or a line), and how much of it."""

    option: Rows
    thing: Rows
    amount: Floats

    def of(self, options: Rows) -> Mask:
        """Return which entries are of these options."""
        chosen = np.zeros(max(self.option.max(initial=0), options.max(initial=0)) + 1, dtype=np.bool_)
        chosen[options] = True
        entries: Mask = chosen[self.option]
        return entries

    def total(self, options: Rows, things: int) -> Floats:
        """Return how much of each thing these options use together."""
        entries = self.of(options)
        return np.bincount(self.thing[entries], self.amount[entries], minlength=things).astype(np.float64)


class Problem(msgspec.Struct, frozen=True, kw_only=True):
    """`orders` many orders with their options.

    `order` and `rank` have one entry an option: its order, and from 0 to 1 how far down it is in the order's ranking.
    `capacity` is that of each resource, `taken` what options take of it. `price` (per billed Mbps and month) and `free`
    (one row a line, one column a level: the Mbps that are paid for anyway and not in use) are those of the lines;
    `mbps` is what options need of a line, and `busy` has, for each of its entries, the part that would be billed if
    nothing were free.
    """

    orders: int
    order: Rows
    rank: Floats
    capacity: Floats
    taken: Uses
    price: Floats
    free: Floats
    mbps: Uses
    busy: Floats


class Optimum(msgspec.Struct, frozen=True, kw_only=True):
    """`chosen` is each order's option, or NOWHERE. No assignment of as many orders has a bill below `bound`; `gap` is
    the difference to `bill` as a share of it.

    `status`: `optimal` (the gap is proven to be below a ten-thousandth, and no assignment places more orders),
    `time_limit` (something better may exist) or `nothing_found` (nothing better than what was known in time).
    """

    status: Status
    chosen: Rows
    bill: float
    bound: float
    gap: float
    seconds: float


def bill_of(problem: Problem, chosen: Rows) -> float:
    """Return what the chosen options add to the bills of all lines, per month."""
    return float(_added(problem, chosen)[1].sum())


def bills_by_line(problem: Problem, chosen: Rows) -> Floats:
    """Return what the chosen options add to the bill of each line, per month."""
    line, added = _added(problem, chosen)
    return np.bincount(line, weights=added, minlength=problem.price.size).astype(np.float64)


def _added(problem: Problem, chosen: Rows) -> tuple[Rows, Floats]:
    """Return the lines that the chosen options use, and what each use adds to the bill there."""
    used = problem.mbps.of(chosen[chosen != NOWHERE])
    mbps, busy = problem.mbps.amount[used], problem.busy[used]
    in_turn = np.lexsort((-busy, problem.mbps.thing[used]))  # line by line; who would be billed for most comes first
    line, mbps, busy = problem.mbps.thing[used][in_turn], mbps[in_turn], busy[in_turn]
    until = np.cumsum(mbps)
    first = np.searchsorted(line, line)
    before = until - mbps - (until - mbps)[first]
    billed = np.clip((before + mbps)[:, np.newaxis] - problem.free[line], 0.0, mbps[:, np.newaxis]).mean(axis=1)
    return line, problem.price[line] * busy * billed


def fits(problem: Problem, chosen: Rows) -> bool:
    """Return whether the chosen options take no more than there is."""
    taken = problem.taken.total(chosen[chosen != NOWHERE], problem.capacity.size)
    return bool((taken <= problem.capacity + ROUNDING).all())


def placed(chosen: Rows) -> int:
    """Return how many orders have an option."""
    return int(np.count_nonzero(chosen != NOWHERE))


def solve(problem: Problem, *, seconds: float, start: Rows | None = None) -> Optimum:
    """Find the optimum within so many seconds; `start` is an assignment that is known already.

    Where time runs out, the best assignment found is returned: it places no fewer orders than `start` and, if it places
    as many, has no larger bill.
    """
    began = time.monotonic()
    known = np.full(problem.orders, NOWHERE, dtype=np.intp)
    if start is not None and fits(problem, start):
        known = start
    first = _Found(chosen=known, bound=0.0, proven=placed(known) == np.unique(problem.order).size)
    if not first.proven:
        first = _best(problem, known, seconds * TO_PLACE_MORE, by="placed")
    left = seconds - (time.monotonic() - began)
    last = _best(problem, first.chosen, left, by="bill")
    bill = bill_of(problem, last.chosen)
    bound = min(max(last.bound - BETTER_RANKED * problem.orders, 0.0), bill)
    proven = first.proven and last.proven
    return Optimum(
        status="optimal" if proven else "nothing_found" if (last.chosen == known).all() else "time_limit",
        chosen=last.chosen,
        bill=bill,
        bound=bound,
        gap=(bill - bound) / bill if bill else 0.0,
        seconds=time.monotonic() - began,
    )


class _Found(msgspec.Struct, frozen=True, kw_only=True):
    """The best assignment found, and the value of the objective that no assignment can be below.

    `proven`: the two are as good as equal.
    """

    chosen: Rows
    bound: float
    proven: bool


def _best(problem: Problem, start: Rows, seconds: float, *, by: Objective) -> _Found:
    """Place as many orders as possible, or as many as `start` does for the smallest bill.

    The relaxed program, rounded, is what the search starts from. The search is first confined to a core of few options
    (kernel search): those that the relaxed program or an assignment at hand uses, and of each order those with the
    least reduced cost. What is found there is where the search among all options starts.
    """
    if not problem.order.size:
        return _Found(chosen=start, bound=0.0, proven=True)
    until = time.monotonic() + seconds
    model = _model(problem, least_placed=placed(start), by=by)
    relaxed = _relaxed(problem, model, seconds) if seconds > 0 else None
    if relaxed is None:
        return _Found(chosen=start, bound=-np.inf, proven=False)
    starts = start, _rounded(problem, relaxed)
    core = relaxed.core | np.isin(np.arange(problem.order.size), starts)
    start = max(starts, key=lambda chosen: (placed(chosen), -bill_of(problem, chosen)))
    found = _run(problem, model, start, (until - time.monotonic()) * FOR_THE_CORE, among=core)
    everything = np.ones(problem.order.size, dtype=np.bool_)
    found = _run(problem, model, found.chosen, until - time.monotonic(), among=everything)
    return msgspec.structs.replace(found, bound=max(relaxed.bound, found.bound))


class _Relaxed(msgspec.Struct, frozen=True, kw_only=True):
    """The optimum of the relaxed program, where an order may be divided among its options.

    `share`: how much of its order each option gets; `in_turn`: each order's options, the most promising first; `core`:
    which options are promising; `bound`: the objective.
    """

    share: Floats
    in_turn: Rows
    core: Mask
    bound: float


def _relaxed(problem: Problem, model: highspy.HighsLp, seconds: float) -> _Relaxed | None:
    """Solve the relaxed program; None where that takes too long."""
    solver = _solver(model, seconds)
    solver.setOptionValue("solve_relaxation", True)
    solver.setOptionValue("solver", "ipm")  # the simplex method takes ten times as long for a thousand orders
    solver.run()
    if solver.getModelStatus() != OPTIMAL:
        return None
    solution, options = solver.getSolution(), problem.order.size
    share, reduced_cost = (np.array(of)[:options] for of in (solution.col_value, solution.col_dual))
    by_cost = np.lexsort((reduced_cost, problem.order))
    place = np.empty(options)
    place[by_cost] = np.arange(options) - np.searchsorted(problem.order[by_cost], problem.order[by_cost])
    return _Relaxed(
        share=share,
        in_turn=np.lexsort((reduced_cost, -share.round(DECIMALS), problem.order)),
        core=(share > ROUNDING) | (place < CORE_OPTIONS),
        bound=solver.getInfo().objective_function_value,
    )


def _rounded(problem: Problem, relaxed: _Relaxed) -> Rows:
    """Return an assignment near the relaxed optimum: in turn, the least divided first, each order takes the most
    promising of its options that still fits."""
    taken = problem.taken
    entries = np.argsort(taken.option, kind="stable")
    first = np.searchsorted(taken.option[entries], np.arange(problem.order.size + 1))
    options_of = np.split(
        relaxed.in_turn, np.searchsorted(problem.order[relaxed.in_turn], np.arange(1, problem.orders))
    )
    largest = np.zeros(problem.orders)
    np.maximum.at(largest, problem.order, relaxed.share)
    left, chosen = problem.capacity.copy(), np.full(problem.orders, NOWHERE, dtype=np.intp)
    for order in np.argsort(-largest, kind="stable").tolist():
        for option in options_of[order].tolist():
            uses = entries[first[option] : first[option + 1]]
            if (taken.amount[uses] <= left[taken.thing[uses]]).all():
                left[taken.thing[uses]] -= taken.amount[uses]
                chosen[order] = option
                break
    return chosen


def _run(problem: Problem, model: highspy.HighsLp, start: Rows, seconds: float, *, among: Mask) -> _Found:
    """Run HiGHS on the program with no other options than `among`."""
    unknown = _Found(chosen=start, bound=-np.inf, proven=False)
    if seconds <= 0:
        return unknown
    solver = _solver(model, seconds)
    options = np.arange(among.size, dtype=np.int32)
    left_out = options[~among]
    if not left_out.size:  # presolving all options takes seconds, whatever the time limit, and removes next to nothing
        solver.setOptionValue("presolve", "off")
    solver.changeColsBounds(left_out.size, left_out, np.zeros(left_out.size), np.zeros(left_out.size))
    solver.setSolution(options.size, options, np.isin(options, start).astype(np.float64))
    solver.run()
    info = solver.getInfo()
    if info.primal_solution_status != FEASIBLE:
        return msgspec.structs.replace(unknown, bound=info.mip_dual_bound)
    chosen = np.full(problem.orders, NOWHERE, dtype=np.intp)
    taken = np.flatnonzero(np.array(solver.getSolution().col_value)[: options.size].round())
    chosen[problem.order[taken]] = taken
    proven = solver.getModelStatus() == OPTIMAL
    return _Found(chosen=chosen, bound=info.mip_dual_bound, proven=proven)


def _solver(model: highspy.HighsLp, seconds: float) -> highspy.Highs:
    solver = highspy.Highs()
    for option, value in {**OPTIONS, "time_limit": seconds}.items():
        solver.setOptionValue(option, value)
    solver.passModel(model)
    return solver


def _model(problem: Problem, *, least_placed: int, by: Objective) -> highspy.HighsLp:
    """Return the program: a column of 0 or 1 for each option, and one for the free Mbps of each kind that are used.

    A kind is one line, one level of its traffic, and the orders of which the same part would be billed there.
    """
    kinds = _kinds_of_free_mbps(problem)
    options, columns = problem.order.size, problem.order.size + kinds.most.size
    if by == "placed":
        cost = np.repeat([-1.0, 0.0], [options, kinds.most.size])
    else:
        of_use = problem.price[problem.mbps.thing] * problem.busy * problem.mbps.amount
        full_price = np.bincount(problem.mbps.option, of_use, minlength=options)
        cost = np.concatenate([full_price + BETTER_RANKED * problem.rank, -kinds.saves])
    model = highspy.HighsLp()
    model.num_col_, model.col_cost_ = columns, cost
    model.col_lower_, model.col_upper_ = np.zeros(columns), np.concatenate([np.ones(options), kinds.most])
    whole, parts = highspy.HighsVarType.kInteger, highspy.HighsVarType.kContinuous
    model.integrality_ = [whole] * options + [parts] * kinds.most.size
    _rows(problem, kinds, least_placed).write(model)
    return model


def _rows(problem: Problem, kinds: "_Kinds", least_placed: int) -> "_Rows":
    all_options, all_kinds = np.arange(problem.order.size), np.arange(kinds.most.size)
    of_option, of_kind = np.ones(all_options.size), np.ones(all_kinds.size)
    taken, limited = problem.taken, np.isfinite(problem.capacity[problem.taken.thing])
    rows = _Rows()
    rows.add(problem.order, all_options, of_option, upper=np.ones(problem.orders))
    rows.add(taken.thing[limited], taken.option[limited], taken.amount[limited], upper=problem.capacity)
    rows.add(  # the Mbps of a kind that are used are no more than the chosen options have a use for
        np.concatenate([all_kinds, kinds.user]),
        np.concatenate([all_options.size + all_kinds, kinds.option]),
        np.concatenate([of_kind, -kinds.use]),
        upper=np.zeros(all_kinds.size),
    )
    rows.add(kinds.shared, all_options.size + all_kinds, of_kind, upper=kinds.most_shared)
    rows.add(np.zeros(all_options.size, dtype=np.intp), all_options, -of_option, upper=np.array([-float(least_placed)]))
    return rows


class _Kinds(msgspec.Struct, frozen=True, kw_only=True):
    """The kinds of free Mbps: at most `most` of each are used, and each Mbps `saves` so much of the bill.

    Each entry of `user`, `option`, `use` is a kind, an option, and how many Mbps the option has a use for. Kinds of the
    same line and level have the same `shared`, an index into `most_shared`, which together they do not exceed.
    """

    most: Floats
    saves: Floats
    user: Rows
    option: Rows
    use: Floats
    shared: Rows
    most_shared: Floats


def _kinds_of_free_mbps(problem: Problem) -> _Kinds:
    uses, levels = problem.mbps, problem.free.shape[1]
    billed = np.flatnonzero((problem.price[uses.thing] > 0) & (problem.busy > 0))
    pairs, pair = np.unique(np.stack([uses.thing[billed], problem.busy[billed]], axis=1), axis=0, return_inverse=True)
    line, busy = pairs[:, 0].astype(np.intp), pairs[:, 1]
    free = problem.free[line]
    number = np.full(free.shape, NOWHERE, dtype=np.intp)
    number[free > 0] = np.arange(np.count_nonzero(free > 0))
    of_pair, level = np.nonzero(free > 0)
    user = number[pair.ravel()]  # one row an entry of `billed`, one column a level
    use = np.minimum(uses.amount[billed][:, np.newaxis], free[pair.ravel()])
    used = user != NOWHERE
    return _Kinds(
        most=free[free > 0],
        saves=(problem.price[line] * busy)[of_pair] / levels,
        user=user[used],
        option=np.broadcast_to(uses.option[billed][:, np.newaxis], user.shape)[used],
        use=use[used],
        shared=line[of_pair] * levels + level,
        most_shared=problem.free.ravel(),
    )


class _Rows:
    """The rows of a program, collected block by block: Σ value × column ≤ upper."""

    def __init__(self) -> None:
        self.count = 0
        self._entries: list[tuple[Rows, Rows, Floats]] = []
        self._upper: list[Floats] = []

    def add(self, row: Rows, column: Rows, value: Floats, *, upper: Floats) -> None:
        """Add a block of as many rows as `upper` has entries; `row` counts within the block."""
        self._entries.append((row + self.count, column, value))
        self._upper.append(upper)
        self.count += upper.size

    def write(self, model: highspy.HighsLp) -> None:
        """Write the rows into the model."""
        row, column, value = (np.concatenate(part) for part in zip(*self._entries, strict=True))
        in_turn = np.lexsort((column, row))
        model.num_row_, model.row_lower_ = self.count, np.full(self.count, -np.inf)
        model.row_upper_ = np.concatenate(self._upper)
        model.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
        model.a_matrix_.start_ = np.searchsorted(row[in_turn], np.arange(self.count + 1))
        model.a_matrix_.index_ = column[in_turn]
        model.a_matrix_.value_ = value[in_turn]
