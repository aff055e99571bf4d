"""The admin pages of profiles and decisions, and the panel on an IDC's page that shows the IDC's state."""

from idcsched.inventory.admin import IDC_PANELS, LINE_LEVELS

from .decisions import DecisionAdmin
from .idc_panel import line_levels, state_panel
from .profiles import ProfileAdmin
from .shapes import ShapeAdmin

__all__ = ["DecisionAdmin", "ProfileAdmin", "ShapeAdmin"]

IDC_PANELS.append(state_panel)
LINE_LEVELS.append(line_levels)
