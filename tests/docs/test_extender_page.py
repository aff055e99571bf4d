"""docs/extender.md: its names and limits are those of the code."""

from idcsched.outbound.client import MAX_BYTES
from idcsched.outbound.health import Patience
from plugins.extender import ASKED, COLUMNS, LONGEST_REASON
from tests.docs.pages import page, section, tables

PAGE = page("extender.md")


def test_the_fields_and_attributes_are_those_that_the_page_names() -> None:
    text = " ".join(section(PAGE, "What is sent").split())
    assert f"`{' '.join(ASKED)}`" in text
    told = " ".join(row["attribute"] for row in tables(section(PAGE, "What is sent"))[0])
    assert {part.removeprefix("idc/") for part in told.replace(",", "").split() if part.startswith("idc/")} == {
        *COLUMNS,
        "isp",
    }


def test_the_limits_are_those_that_the_page_names() -> None:
    assert (MAX_BYTES, LONGEST_REASON) == (4 * 2**20, 500)
    patience = Patience()
    assert (patience.failures, patience.rest_seconds) == (5, 10)
