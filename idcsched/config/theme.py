"""The look of the admin: its name, its sidebar by app, its style sheet."""

from collections.abc import Iterator, Mapping
from typing import Any

from django.contrib import admin
from django.http import HttpRequest
from django.templatetags.static import static
from django.urls import reverse_lazy
from django.utils.text import capfirst
from django.utils.translation import gettext_lazy as _

__all__ = ["UNFOLD", "sidebar"]

ICONS: Mapping[str, str] = {
    "inventory.Idc": "dns",
    "inventory.Taint": "block",
    "inventory.Affinity": "favorite",
    "inventory.Line": "lan",
    "inventory.Region": "map",
    "inventory.Isp": "cell_tower",
    "inventory.RegionScope": "shield_person",
    "transfer.Import": "upload_file",
    "scheduling.Profile": "tune",
    "scheduling.Decision": "alt_route",
    "placement.Placement": "package_2",
    "placement.Machine": "computer",
    "placement.Provider": "cloud",
    "placement.Delivery": "outgoing_mail",
    "metrics_ingest.Source": "sensors",
    "metrics_ingest.Run": "sync",
    "metrics_ingest.Metric": "straighten",
    "metrics_ingest.Latest": "speed",
    "metrics_ingest.BandwidthRollup": "show_chart",
    "metrics_ingest.BandwidthMonth": "calendar_month",
    "metrics_ingest.BandwidthDay": "today",
    "ledger.Holding": "inventory_2",
    "ledger.Claim": "receipt_long",
    "ledger.Headcount": "groups",
    "accounts.User": "person",
    "accounts.Tenant": "apartment",
    "accounts.ApiToken": "key",
    "audit.Change": "history",
}
"""The models' icons, in the order in which the sidebar shows models and apps; those not listed come last."""
OTHER_ICON = "table_rows"
ORDER = {label: place for place, label in enumerate(ICONS)}
APPS = {label.split(".", 1)[0]: place for label, place in reversed(ORDER.items())}


def sidebar(request: HttpRequest) -> list[dict[str, Any]]:
    """Return the sidebar: the shortcuts, and a group for each app with the models that the user may see."""
    apps = admin.site.get_app_list(request)
    apps.sort(key=lambda app: APPS.get(app["app_label"], len(ICONS)))
    groups = [{"title": capfirst(app["name"]), "separator": True, "items": _items(app)} for app in apps]
    return [{"items": list(_shortcuts(apps))}, *groups]


def _shortcuts(apps: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Yield what operators must be able to do from any page at once: to see the fleet, and to taint IDCs."""
    yield {"title": _("Console"), "icon": "monitoring", "link": reverse_lazy("console:overview")}
    models = [model for app in apps for model in app["models"]]
    taint = next((model for model in models if model["model"]._meta.label == "inventory.Taint"), None)
    if taint is not None and taint["add_url"]:
        yield {"title": _("Taint IDCs…"), "icon": "do_not_disturb_on", "link": taint["add_url"]}


def _items(app: Mapping[str, Any]) -> list[dict[str, Any]]:
    models = {f"{app['app_label']}.{model['object_name']}": model for model in app["models"]}
    labels = sorted(models, key=lambda label: ORDER.get(label, len(ICONS)))
    return [
        {
            "title": models[label]["name"],
            "icon": ICONS.get(label, OTHER_ICON),
            "link": models[label]["admin_url"],
        }
        for label in labels
        if models[label]["admin_url"]
    ]


UNFOLD: Mapping[str, Any] = {
    "SITE_TITLE": "idcsched",
    "SITE_HEADER": "idcsched",
    "SITE_SYMBOL": "alt_route",
    "SITE_URL": None,
    "SHOW_HISTORY": True,
    "SHOW_VIEW_ON_SITE": False,
    "SHOW_LANGUAGES": True,
    "LANGUAGES": {"action": reverse_lazy("admin:language")},
    "SITE_FAVICONS": [
        {"rel": "icon", "type": "image/svg+xml", "href": lambda request: static("administration/favicon.svg")},
    ],
    "STYLES": [lambda request: static("administration/admin.css")],
    "SIDEBAR": {"show_search": True, "show_all_applications": False, "navigation": "idcsched.config.theme.sidebar"},
    "DASHBOARD_CALLBACK": "idcsched.web.front_page.front_page",
    "COMMAND": {"search_models": False},
}
