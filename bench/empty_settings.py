"""The project's own settings, with the empty views beside its addresses. For measuring only."""

import os

from idcsched.settings import *  # noqa: F403

ROOT_URLCONF = "bench.empty_urls"
BENCH_RECORDS = os.environ.get("BENCH_RECORD") != "off"
RECORD_INPUTS = 100 if BENCH_RECORDS else 0
