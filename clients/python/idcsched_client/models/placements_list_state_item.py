from typing import Literal

PlacementsListStateItem = Literal[
    "active", "expired", "failed", "provisioning", "released", "releasing", "reserved", "waiting"
]

PLACEMENTS_LIST_STATE_ITEM_VALUES: set[PlacementsListStateItem] = {
    "active",
    "expired",
    "failed",
    "provisioning",
    "released",
    "releasing",
    "reserved",
    "waiting",
}


def check_placements_list_state_item(value: str) -> PlacementsListStateItem:
    if value in PLACEMENTS_LIST_STATE_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLACEMENTS_LIST_STATE_ITEM_VALUES!r}")
