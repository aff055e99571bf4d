"""Rules that the database itself enforces, whatever the services check."""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

import pytest
from django.db import IntegrityError, models, transaction

from idcsched.inventory.models import Affinity, Idc, Line, Region, RegionScope, Taint

pytestmark = pytest.mark.usefixtures("db")

MONDAY = datetime(2031, 5, 5, tzinfo=UTC)
SOUND: dict[type[models.Model], Callable[[Idc], dict[str, Any]]] = {
    Region: lambda idc: {"code": "B"},
    Idc: lambda idc: {"code": "b", "region": idc.region},
    Line: lambda idc: {"idc": idc, "code": "x", "isp": idc.lines.get().isp, "purchased_mbps": 1},
    Taint: lambda idc: {"idc": idc, "key": "k"},
    Affinity: lambda idc: {"idc": idc, "kind": "prefer", "weight": 1},
}
CASES = {
    "region_latitude_range": (Region, {"latitude": 90.1, "longitude": 0}),
    "region_longitude_range": (Region, {"latitude": 0, "longitude": 180.1}),
    "region_coordinates_both": (Region, {"latitude": 1}),
    "idc_tier_known": (Idc, {"tier": "core"}),
    "idc_status_known": (Idc, {"status": "asleep"}),
    "idc_stock_cpu_range": (Idc, {"stock_cpu": -1}),
    "idc_stock_memory_gib_range": (Idc, {"stock_memory_gib": -1}),
    "idc_stock_disk_gib_range": (Idc, {"stock_disk_gib": float("inf")}),
    "idc_stock_gpu_range": (Idc, {"stock_gpu": -0.1}),
    "idc_latitude_range": (Idc, {"latitude": -90.1, "longitude": 0}),
    "idc_longitude_range": (Idc, {"latitude": 0, "longitude": -180.1}),
    "idc_coordinates_both": (Idc, {"longitude": 1}),
    "line_code_unique": (Line, {"code": "ct"}),
    "line_code_given": (Line, {"code": ""}),
    "line_purchased_range": (Line, {"purchased_mbps": -1}),
    "line_commit_range": (Line, {"commit_mbps": -1}),
    "line_max_level_range": (Line, {"max_level": 0}),
    "line_price_per_mbps_range": (Line, {"price_per_mbps": -1}),
    "line_price_per_gb_range": (Line, {"price_per_gb": -1}),
    "line_charge_type_known": (Line, {"charge_type": "barter"}),
    "taint_key_given": (Taint, {"key": ""}),
    "taint_effect_known": (Taint, {"effect": "Maybe"}),
    "taint_window_order": (Taint, {"starts_at": MONDAY, "ends_at": MONDAY}),
    "affinity_idc_or_selector": (Affinity, {"idc": None}),
    "affinity_weight_by_kind": (Affinity, {"weight": None}),
    "affinity_weight_range": (Affinity, {"weight": 0}),
    "affinity_kind_known": (Affinity, {"kind": "love"}),
    "affinity_window_order": (Affinity, {"starts_at": MONDAY, "ends_at": MONDAY}),
}
ELSEWHERE = {
    "region_code_unique",
    "region_not_its_own_parent",
    "isp_code_unique",
    "idc_code_unique",
    "taint_unique_with_start",
    "taint_unique_without_start",
    "region_scope_unique",
}


def test_it_works(idc):
    for model, sound in SOUND.items():
        model._default_manager.create(**sound(idc))


def test_every_constraint_has_its_case():
    declared = {
        constraint.name
        for model in (*SOUND, RegionScope, Line._meta.get_field("isp").related_model)
        for constraint in model._meta.constraints
    }
    assert declared == set(CASES) | ELSEWHERE


@pytest.mark.both
@pytest.mark.parametrize("name", CASES)
def test_the_database_refuses(idc, name):
    model, fields = CASES[name]
    with pytest.raises(IntegrityError), transaction.atomic():
        model._default_manager.create(**(SOUND[model](idc) | fields))


@pytest.mark.parametrize("level", [0.01, 1.0, None])
def test_a_level_that_is_none_or_in_range_is_fine(idc, level):
    Line.objects.update(max_level=level)


def test_codes_are_unique(idc):
    for row in (idc, idc.region, idc.lines.get().isp):
        row.pk = None
        row._state.adding = True
        with pytest.raises(IntegrityError), transaction.atomic():
            row.save(force_insert=True)


def test_a_region_is_not_its_own_parent(south):
    with pytest.raises(IntegrityError), transaction.atomic():
        Region.objects.filter(pk=south.pk).update(parent=south.pk)


@pytest.mark.parametrize("starts_at", [None, MONDAY])
def test_a_taint_stands_once(idc, starts_at):
    Taint.objects.create(idc=idc, key="k", starts_at=starts_at)
    with pytest.raises(IntegrityError), transaction.atomic():
        Taint.objects.create(idc=idc, key="k", starts_at=starts_at)


@pytest.mark.both
def test_a_number_that_is_none_does_not_get_in(idc):
    with pytest.raises(IntegrityError), transaction.atomic():
        Line.objects.update(purchased_mbps=float("nan"))
