"""Loads the seed example and the demo, all through the services that API and admin use."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from idcsched.accounts.services import tenant_create
from idcsched.audit.context import origin_set
from idcsched.framework.profile import Profile
from idcsched.inventory.services import affinity_create, idc_create, isp_create, region_create, taint_create
from idcsched.placement.services import shapes_learn
from idcsched.provisioning.services import provider_create
from idcsched.scheduling.replay import policy_of
from idcsched.scheduling.services import profile_create
from idcsched.scheduling.shapes import shape_create
from metrics_ingest.services import Sample, metric_create, samples_store

from .credentials import TENANT, credentials_issue
from .documents import Document, article_profile, demo, moment, seed_example
from .measuring import measurements_store
from .past_course import course_taken
from .past_orders import past_orders
from .past_placements import placements_store, records_store

__all__ = ["demo_load"]

PROFILE_FIELDS = ("code", "name", "message")


@transaction.atomic
def demo_load(*, now: datetime) -> dict[str, int]:
    """Load the seed example and the demo, all or nothing, measured and learnt as of `now`; return what was loaded.

    Raises Invalid or Conflict where something of the same name is there already, OSError where the users' secrets
    can't be written.
    """
    with origin_set(actor="load_demo", via="command"):
        example = seed_example()
        _inventory(example, now)
        _inventory({kind: demo(kind) for kind in ("isps", "regions", "idcs", "metrics", "taints", "affinities")}, now)
        for document in demo("providers"):
            provider_create(**document)
        tenant = tenant_create(code=TENANT, name="Demo")
        for document in demo("shapes"):
            shape_create(**document)
        policy = _article_policy()
        orders = course_taken(past_orders(now=now), policy=policy, tenant=tenant.code, now=now)
        placements = placements_store(orders=orders, tenant=tenant, now=now)
        samples = samples_store(samples=[Sample(**document, at=now) for document in example["samples"]], now=now)
        measured = measurements_store(at=now, now=now)
        shapes_learn(now=now)
        records_store(orders=orders, placements=placements, tenant=tenant)
        credentials_issue(tenant=tenant)
    return {
        "idcs": len(example["idcs"]) + len(demo("idcs")),
        "lines": measured["lines"],
        "orders": len(orders),
        "values": measured["values"] + measured["samples"] + samples,
    }


def _inventory(objects: Mapping[str, Sequence[Document]], now: datetime) -> None:
    """Create the objects one by one, in an order in which those that they refer to exist already."""
    for document in objects.get("isps", ()):
        isp_create(**document)
    for document in objects["regions"]:
        region_create(**document)
    for document in objects["idcs"]:
        idc_create(**_idc(document))
    for document in objects["metrics"]:
        metric_create(**document)
    for document in objects.get("profiles", ()):
        profile_create(**_profile(document))
    for document in objects["taints"]:
        taint_create(**_dated(document, now))
    for document in objects["affinities"]:
        affinity_create(**document)


def _article_policy() -> Profile:
    """Create the profile by which the past orders were decided, and return it as it decides."""
    profile = profile_create(**_profile(article_profile()))
    return policy_of(profile.code, profile.revisions.get().number)


def _idc(document: Document) -> dict[str, Any]:
    """Return the arguments of `idc_create`, which has one for each kind of stock."""
    stock = {f"stock_{resource}": amount for resource, amount in document.get("stock", {}).items()}
    return {name: value for name, value in document.items() if name != "stock"} | stock


def _profile(document: Document) -> dict[str, Any]:
    """Return the arguments of `profile_create`: all fields but PROFILE_FIELDS go into `body`."""
    fields = {name: document[name] for name in PROFILE_FIELDS}
    return fields | {"body": {name: value for name, value in document.items() if name not in fields}}


def _dated(document: Document, now: datetime) -> dict[str, Any]:
    return {**document, **{name: moment(document.get(name), now) for name in ("starts_at", "ends_at")}}
