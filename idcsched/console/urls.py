"""The URLs of the console."""

from django.urls import URLPattern, path

from .backtests import backtest, backtest_file, backtests
from .decision import decision, order_decisions
from .decision_again import decision_again
from .decisions import decisions
from .history import history
from .idc import idc
from .idcs import idcs
from .moves import moves, moves_file
from .order_trial import order_try
from .overview import overview, overview_bills, overview_changes, wrong_count
from .placements import placement, placements
from .profiles import profile, profiles
from .search import search, suggestions
from .source_names import source_names
from .sources import source, sources
from .taint import taint_idc, taint_idcs, taint_undo
from .theme import theme_choose

app_name = "console"
urlpatterns: list[URLPattern] = [
    path("", overview, name="overview"),
    path("overview/bills/", overview_bills, name="bills"),
    path("overview/changes/", overview_changes, name="changes"),
    path("overview/wrong/", wrong_count, name="wrong"),
    path("backtests/", backtests, name="backtests"),
    path("backtests/<uuid:pk>/", backtest, name="backtest"),
    path("backtests/<uuid:pk>/file/", backtest_file, name="backtest_file"),
    path("changes/", history, name="history"),
    path("idcs/", idcs, name="idcs"),
    path("idcs/<str:code>/", idc, name="idc"),
    path("idcs/<str:code>/taint/", taint_idc, name="taint_idc"),
    path("taint/", taint_idcs, name="taint"),
    path("taint/undo/", taint_undo, name="taint_undo"),
    path("try/", order_try, name="try"),
    path("decisions/", decisions, name="decisions"),
    path("decisions/<uuid:id>/", decision, name="decision"),
    path("decisions/<uuid:id>/replay/", decision_again, name="replay"),
    path("orders/<path:request_id>/", order_decisions, name="order"),
    path("moves/", moves, name="moves"),
    path("moves/file/", moves_file, name="moves_file"),
    path("placements/", placements, name="placements"),
    path("placements/<uuid:pk>/", placement, name="placement"),
    path("profiles/", profiles, name="profiles"),
    path("profiles/<str:code>/", profile, name="profile"),
    path("search/", search, name="search"),
    path("search/suggestions/", suggestions, name="suggestions"),
    path("sources/", sources, name="sources"),
    path("sources/<str:code>/", source, name="source"),
    path("sources/<str:code>/names/", source_names, name="source_names"),
    path("theme/", theme_choose, name="theme"),
]
