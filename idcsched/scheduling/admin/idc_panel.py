"""The panel with the state of an IDC, on the IDC's page in the admin."""

from collections.abc import Collection

from django.template.loader import render_to_string
from django.utils import timezone
from django.utils.translation import gettext

from idcsched.inventory.models import Idc, Line
from idcsched.inventory.taint_state import TaintState, in_state
from idcsched.ledger.models import Resource
from idcsched.scheduling.state import IdcState, LineState, idc_state, level_kind, line_states, taint_windows

__all__ = ["line_levels", "state_panel"]

OVER_SHOWN = 5
MARKS = {"over": "mark-bad", "high": "mark-warn", "fine": "mark-good"}


def state_panel(idc: Idc) -> str:
    """Render water levels, taints (coming, in force, over), affinities, stock, and values with their ages."""
    now = timezone.now()
    state = idc_state(idc, now=now)
    over = taint_windows(idc, now, in_state(TaintState.OVER, now))
    context = {
        "state": state,
        "lines": [{"line": line, "level": _level(line), "marker": _percent(line.max_level)} for line in state.lines],
        "stock": _stock(state),
        "taints": [*state.taints, *reversed(over[-OVER_SHOWN:])],
        "labels": dict(TaintState.choices),
        "values": [value for value in state.values if not (value.line and value.metric == "bandwidth_mbps")],
    }
    return render_to_string("administration/idc_state.html", context)


def line_levels(lines: Collection[Line]) -> dict[int, tuple[str, str]]:
    """Return each line's water level as text, with the CSS class of its mark, by primary key."""
    shown = {}
    for key, state in line_states(lines, now=timezone.now()).items():
        level = _level(state)
        if level["percent"] is None:
            shown[key] = ("?", "")
        elif state.stale:
            shown[key] = (f"{level['percent']} % · {gettext('stale')}", "")
        else:
            shown[key] = (f"{level['percent']} %", MARKS[str(level["kind"])])
    return shown


def _level(line: LineState) -> dict[str, object]:
    """Return how full the line is, and the kind of mark for that."""
    if line.water_level is None:
        return {"percent": None, "bar": 0, "kind": "unknown"}
    share, kind = line.water_level, level_kind(line.water_level, line.max_level)
    return {"percent": _percent(share), "bar": min(_percent(share), 100), "kind": kind}


def _percent(share: float) -> int:
    return round(share * 100)


def _stock(state: IdcState) -> list[dict[str, object]]:
    names = dict(Resource.choices)
    shown = (stock for stock in state.stock if stock.for_sale is not None or stock.taken)
    return [{"name": names[stock.resource], "stock": stock} for stock in shown]
