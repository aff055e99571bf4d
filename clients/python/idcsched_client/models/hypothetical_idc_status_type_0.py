from typing import Literal

HypotheticalIdcStatusType0 = Literal["draining", "offline", "online", "retired"]

HYPOTHETICAL_IDC_STATUS_TYPE_0_VALUES: set[HypotheticalIdcStatusType0] = {
    "draining",
    "offline",
    "online",
    "retired",
}


def check_hypothetical_idc_status_type_0(value: str) -> HypotheticalIdcStatusType0:
    if value in HYPOTHETICAL_IDC_STATUS_TYPE_0_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {HYPOTHETICAL_IDC_STATUS_TYPE_0_VALUES!r}")
