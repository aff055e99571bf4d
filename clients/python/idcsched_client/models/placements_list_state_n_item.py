from typing import Literal

PlacementsListStateNItem = Literal[
    "active", "expired", "failed", "provisioning", "released", "releasing", "reserved", "waiting"
]

PLACEMENTS_LIST_STATE_N_ITEM_VALUES: set[PlacementsListStateNItem] = {
    "active",
    "expired",
    "failed",
    "provisioning",
    "released",
    "releasing",
    "reserved",
    "waiting",
}


def check_placements_list_state_n_item(value: str) -> PlacementsListStateNItem:
    if value in PLACEMENTS_LIST_STATE_N_ITEM_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {PLACEMENTS_LIST_STATE_N_ITEM_VALUES!r}")
