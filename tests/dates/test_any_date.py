"""The tests about dates, run at other dates: the ends of a month, a year and a leap day, and when clocks change.

`clock_offset.c` shifts the wall clock of the tests and of all that they start. Each run begins two minutes before its
moment, and crosses it. The head of that file says how to run any tests in this way by hand.
"""

import faulthandler
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.architecture.repository import ROOT
from tests.servers import scratch_folder

pytestmark = [pytest.mark.long, pytest.mark.timeout(3600), pytest.mark.postgresql]

CHINA = "Asia/Shanghai"
MOMENTS = {
    "a month ends in Shanghai": (datetime(2026, 11, 30, 16, tzinfo=UTC), CHINA),
    "a year ends in Shanghai": (datetime(2026, 12, 31, 16, tzinfo=UTC), CHINA),
    "a leap day ends in Shanghai": (datetime(2028, 2, 29, 16, tzinfo=UTC), CHINA),
    "clocks go forward in New York": (datetime(2027, 3, 14, 7, tzinfo=UTC), "America/New_York"),
    "clocks go back in New York": (datetime(2027, 11, 7, 6, tzinfo=UTC), "America/New_York"),
}
BEFORE = timedelta(minutes=2)
ABOUT_DATES = (
    *("metrics_ingest", "inventory", "scheduling", "planning", "placement", "provisioning"),
    *("console", "audit", "stories"),
    *("api/test_bandwidth.py", "api/test_exact_bills.py", "api/test_advice.py"),
)
DEMO = "demo"
"""Its fleet is in China, and its traffic rises and falls by China's clock."""
KEEPS_THE_TRUE_TIME = "not prometheus and not monitoring"
"""Prometheus takes no notice of the shift."""
OF_THIS_RUN = ("TEST_DATABASE_URL", "TEST_REDIS_URL", "DATABASE_URL", "TEST_ON", "HYPOTHESIS_PROFILE")


@pytest.fixture(scope="module")
def clock_offset() -> Iterator[Path]:
    """The compiled library, where PostgreSQL, which is another user, can read it."""
    compiler = shutil.which("cc") or pytest.skip("there is no C compiler here")
    with scratch_folder() as folder:
        folder.chmod(0o755)
        library = folder / "clock_offset.so"
        source = Path(__file__).parent / "clock_offset.c"
        subprocess.run([compiler, "-shared", "-fPIC", "-O2", "-o", library, source, "-ldl"], check=True)
        yield library


def environment_at(library: Path, moment: datetime, zone: str) -> dict[str, str]:
    """Return the environment of a program that begins BEFORE that moment, without what belongs to this test run."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    offset = math.ceil((moment - BEFORE).timestamp() - time.time())
    shifted = {"LD_PRELOAD": str(library), "CLOCK_OFFSET": str(offset), "BILLING_ZONE": zone}
    return {name: value for name, value in kept.items() if name not in OF_THIS_RUN} | shifted


@pytest.mark.parametrize(("moment", "zone"), MOMENTS.values(), ids=MOMENTS)
def test_it_works(clock_offset: Path, moment: datetime, zone: str) -> None:
    faulthandler.cancel_dump_traceback_later()  # it takes longer than any other test
    about_dates = (*ABOUT_DATES, DEMO) if zone == CHINA else ABOUT_DATES
    folders = [f"tests/{name}" for name in about_dates]
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--quiet", "-p", "no:cacheprovider", "-k", KEEPS_THE_TRUE_TIME, *folders],
        cwd=ROOT,
        env=environment_at(clock_offset, moment, zone),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-20_000:]


def test_only_the_wall_clock_is_shifted(clock_offset: Path) -> None:
    """The program sees the shifted date and time, and sleeping still takes as long as it should."""
    moment = datetime(2028, 2, 29, 16, tzinfo=UTC)
    code = "import time; begun = time.monotonic(); time.sleep(0.2); print(time.time(), time.monotonic() - begun)"
    printed = subprocess.run(
        [sys.executable, "-c", code],
        env=environment_at(clock_offset, moment, "UTC"),
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    ).stdout.split()
    now, waited = float(printed[0]), float(printed[1])
    assert timedelta(0) <= datetime.fromtimestamp(now, UTC) - (moment - BEFORE) < timedelta(minutes=1)
    assert 0.2 <= waited < 100
