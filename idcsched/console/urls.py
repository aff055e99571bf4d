"""The URLs of the console."""

from django.urls import URLPattern, path

from .decision import decision
from .decisions import decisions
from .idc import idc
from .order_trial import order_try
from .overview import overview
from .placements import placement, placements
from .profiles import profile, profiles
from .search import search
from .sources import source, sources

app_name = "console"
urlpatterns: list[URLPattern] = [
    path("", overview, name="overview"),
    path("idcs/<str:code>/", idc, name="idc"),
    path("try/", order_try, name="try"),
    path("decisions/", decisions, name="decisions"),
    path("decisions/<uuid:id>/", decision, name="decision"),
    path("placements/", placements, name="placements"),
    path("placements/<uuid:pk>/", placement, name="placement"),
    path("profiles/", profiles, name="profiles"),
    path("profiles/<str:code>/", profile, name="profile"),
    path("search/", search, name="search"),
    path("sources/", sources, name="sources"),
    path("sources/<str:code>/", source, name="source"),
]
