"""docs/callbacks.md names the figures that the code has."""

import re
from datetime import timedelta

from idcsched.placement import delivering
from tests.docs.pages import page

PAGE = page("callbacks.md")


def test_the_figures_are_those_that_the_page_names() -> None:
    text = " ".join(PAGE.split())
    assert f"within {delivering.TIMEOUT_SECONDS:g} seconds" in text
    assert re.search(rf"after {delivering.SOONEST.seconds}, {delivering.SOONEST.seconds}, 10, 20, 40", text)
    assert (timedelta(hours=1), timedelta(days=1), 0.25) == (delivering.LATEST, delivering.LONGEST, delivering.JITTER)
    assert timedelta(seconds=60) == delivering.CLAIM
