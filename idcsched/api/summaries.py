"""The summaries of the operations, and the order of the resources in the OpenAPI document."""

from collections.abc import Mapping
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

__all__ = ["TAGS", "summary_of"]

TAGS: Final = (
    "schedule",
    "placements",
    "decisions",
    "capacity",
    "idcs",
    "lines",
    "regions",
    "isps",
    "taints",
    "affinities",
    "shapes",
    "profiles",
    "backtests",
    "advice",
    "plugins",
    "metrics",
    "samples",
    "bandwidth",
    "sources",
    "collectors",
    "providers",
    "provider_kinds",
    "deliveries",
    "tenants",
    "users",
    "region_scopes",
    "tokens",
    "me",
    "changes",
    "status",
)
"""The resources that portals need come first, then those of operators, then accounts."""

ACTIONS: Final[Mapping[str, Promise]] = {
    "list": _("List {things}"),
    "create": _("Create {things}"),
    "partial_update_many": _("Change many {things}"),
    "retrieve": _("Show one {thing}"),
    "update": _("Replace one {thing}"),
    "partial_update": _("Change one {thing}"),
    "destroy": _("Delete one {thing}"),
}

OPERATIONS: Final[Mapping[str, Promise]] = {
    "bandwidth_days_retrieve": _("Show a line's bandwidth by day"),
    "bandwidth_list": _("List bandwidth, bill and forecast of all lines"),
    "bandwidth_months_retrieve": _("Show a line's bandwidth and bill by month"),
    "bandwidth_retrieve": _("Show a line's bandwidth, bill and forecast"),
    "capacity": _("Count how many more fit"),
    "collectors_list": _("List the kinds of sources"),
    "decisions_candidates_retrieve": _("List all candidates of a decision"),
    "decisions_rejected_retrieve": _("List all rejected IDCs of a decision"),
    "decisions_replay_create": _("Decide again, and compare"),
    "decisions_stale_retrieve": _("List all stale values of a decision"),
    "decisions_why": _("Say why there, and why not elsewhere"),
    "deliveries_resend": _("Send a callback again"),
    "idc_outcomes": _("Show how often an IDC was chosen and passed over"),
    "idc_state": _("Show what is known of an IDC now"),
    "me_read": _("Show who is asking"),
    "placements_confirm_create": _("Confirm that the portal has booted the machines"),
    "placements_move_create": _("Reserve another place for a placement"),
    "placements_create": _("Reserve or provision what was recommended"),
    "placements_events_retrieve": _("List the events of a placement"),
    "placements_give_up_create": _("Give up a release that is stuck"),
    "placements_provision_create": _("Start the machines of a reservation"),
    "placements_release_create": _("Release a placement"),
    "placements_retry_create": _("Try a failed placement again"),
    "placements_totals": _("Sum up placements"),
    "plugins_list": _("List the plugins"),
    "advice_moves_create": _("Note what was done with a proposed move"),
    "advice_moves_list": _("List what was done with proposed moves"),
    "advice_moves_retrieve": _("Show what was done with a proposed move"),
    "advice_ask": _("Have new advice computed"),
    "advice_show": _("Show what would be cheaper than what stands"),
    "profile_backtest": _("Ask what a profile would have cost"),
    "profile_preview": _("Preview what a profile would have changed"),
    "profile_revisions_activate": _("Activate a revision of a profile"),
    "profile_revisions_create": _("Add a revision of a profile, not in force yet"),
    "profile_revisions_diff": _("Compare two revisions of a profile"),
    "profile_revisions_list": _("List the revisions of a profile"),
    "provider_kinds_list": _("List the kinds of providers"),
    "root": _("List what there is"),
    "provider_outcome": _("Have a machine looked at now"),
    "samples_push": _("Store samples"),
    "samples_read": _("Show a metric over time"),
    "schedule": _("Recommend, reserve or provision"),
    "schedule_batch": _("Schedule many requests at once"),
    "source_run": _("Ask a source as soon as a worker is free"),
    "source_runs_list": _("List the runs of a source"),
    "source_test": _("Ask a source now, and store nothing"),
    "status_read": _("Show how things stand"),
    "taint_preview": _("Preview what a taint would have done"),
    "tenants_callback_secret": _("Make a new callback secret"),
    "tenants_use": _("Show how much of a tenant's quotas is used"),
    "tokens_revoke": _("Revoke a token"),
    "tokens_rotate": _("Replace a token by a new one"),
}


def summary_of(operation_id: str, action: str | None, model: Any) -> str | None:
    """Return the summary of an operation, or None where it has none."""
    own = OPERATIONS.get(operation_id)
    if own is not None:
        return str(own)
    if model is None or action is None or action not in ACTIONS:
        return None
    return str(ACTIONS[action]).format(thing=model._meta.verbose_name, things=model._meta.verbose_name_plural)
