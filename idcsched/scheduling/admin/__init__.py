"""The admin pages of policies and decisions, and what decisions know of an IDC on its page."""

from idcsched.inventory.admin import IDC_PANELS, LINE_LEVELS

from .decisions import DecisionAdmin
from .idc_panel import line_levels, state_panel
from .profiles import ProfileAdmin

__all__ = ["DecisionAdmin", "ProfileAdmin"]

IDC_PANELS.append(state_panel)
LINE_LEVELS.append(line_levels)
