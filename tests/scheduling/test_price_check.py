"""`manage.py check --database default` names prices that `billing_cost` can't tell apart."""

from typing import Any

import pytest

from idcsched.inventory.services import idc_create, isp_create, region_create
from idcsched.scheduling.checks import check_prices

pytestmark = pytest.mark.usefixtures("db")


@pytest.fixture(autouse=True)
def somewhere(db: None, settings: Any) -> None:
    isp_create(code="ct")
    region_create(code="A")
    settings.DEAREST_PRICE = 60.0


def priced(code: str, price: float | None, *, charge: str = "p95_month", status: str = "online") -> None:
    line = {"isp": "ct", "purchased_mbps": 10, "charge_type": charge, "price_per_mbps": price}
    idc_create(code=code, region="A", status=status, lines=[line])


def said() -> list[tuple[str | None, str]]:
    return [(warning.id, warning.msg) for warning in check_prices(databases=["default"])]


def test_it_works() -> None:
    priced("a", 50.0)
    priced("b", None)
    assert said() == []


def test_lines_above_the_dearest_price_are_named() -> None:
    """A daily price is counted for thirty days, and the line of a retired IDC is not named."""
    priced("a", 61.0)
    priced("b", 2.5, charge="daily_peak")
    priced("c", 99.0, status="retired")
    ((code, message),) = said()
    assert code == "idcsched.W105"
    assert "a/ct, b/ct." in message


def test_many_are_counted() -> None:
    for number in range(12):
        priced(f"i{number:02}", 70.0)
    assert "and 2 more." in said()[0][1]


def test_an_installation_that_is_cheap_altogether() -> None:
    priced("a", 14.0)
    ((code, message),) = said()
    assert (code, "the dearest costs 14" in message) == ("idcsched.W106", True)


def test_without_a_database_nothing_is_asked() -> None:
    priced("a", 99.0)
    assert check_prices() == []
