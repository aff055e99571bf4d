from typing import Literal

WorthNoPrice = Literal["bill_not_weighed", "bill_unknown", "no_bandwidth", "not_fixed"]

WORTH_NO_PRICE_VALUES: set[WorthNoPrice] = {
    "bill_not_weighed",
    "bill_unknown",
    "no_bandwidth",
    "not_fixed",
}


def check_worth_no_price(value: str) -> WorthNoPrice:
    if value in WORTH_NO_PRICE_VALUES:
        return value
    raise TypeError(f"Unexpected value {value!r}. Expected one of {WORTH_NO_PRICE_VALUES!r}")
