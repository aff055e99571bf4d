"""The live picture in a process of its own, as a web process has it: `python -m bench.peers.living IDCS METRICS`.

Fills the empty database that `DATABASE_URL` names with so many IDCs, three lines each, and so many metrics a line.
Then it reads a word a line, does that, and answers with a line: the figures that it came to.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import django

django.setup()

from django.db import connection, transaction

from idcsched.feed.services import feed_extend
from idcsched.inventory.models import Idc
from idcsched.inventory.services.taint import taint_create
from idcsched.scheduling.live import live
from metrics_ingest.models import Metric

STORE = "from bench.stored_fleet import store; store({idcs}, extra_metrics={metrics})"
PATIENCE = 10.0
ONE_IN = 100
CHANGED = """
    UPDATE metrics_ingest_latest SET value = value * 0.99, at = at + interval '1 second'
    WHERE line_id IS NOT NULL AND MOD(idc_id, %s) = %s
"""


WHOSE = "SELECT id FROM inventory_idc WHERE MOD(id, %s) = %s"


def filled(idcs: int, metrics: int) -> None:
    """By a process of its own, whose memory does not count."""
    told = STORE.format(idcs=idcs, metrics=metrics)
    subprocess.run([sys.executable, "manage.py", "shell", "--verbosity", "0", "--command", told], check=True)


def memory() -> tuple[float, float]:
    """What this process holds now, and the most that it ever held, in MB."""
    status = dict(line.split(":", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":" in line)
    return tuple(int(status[name].split()[0]) / 1024 for name in ("VmRSS", "VmHWM"))  # type: ignore[return-value]


def built() -> str:
    """What the process holds with the picture in it, and how much more it held while it was made."""
    live.current()
    held, most = memory()
    return f"{held} {most - held}"


def refreshed(times: list[int]) -> str:
    """Milliseconds for taking in new values of one IDC in a hundred: of all its lines and all their metrics."""
    times.append(len(times))
    codes = list(Metric.objects.filter(scope="line").values_list("code", flat=True))
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(CHANGED, [ONE_IN, times[-1] % ONE_IN])
        cursor.execute(WHOSE, [ONE_IN, times[-1] % ONE_IN])
        feed_extend(topic="metrics", keys=codes, idcs=[idc for (idc,) in cursor.fetchall()])  # as who stores samples
    started = time.perf_counter()
    live.current()
    return str((time.perf_counter() - started) * 1e3)


def seen(known: set[str]) -> str:
    """Wait until another process's taint is in the picture; the time at which it was seen."""
    print("waiting", flush=True)
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        found = {key for key, _, _ in live.current().snapshot.taints.kinds}
        if found - known:
            known |= found
            return str(time.time())
        time.sleep(0.001)
    raise RuntimeError("what was committed elsewhere is not seen")


def tainted(count: list[int]) -> str:
    """Commit a taint; the time at which it was committed."""
    count.append(len(count))
    taint_create(key=f"bench-{count[-1]}", idc=Idc.objects.order_by("id")[0])
    return str(time.time())


def main() -> None:
    counted: list[int] = []
    words: dict[str, Callable[[], str]] = {
        "built": built,
        "refresh": lambda: refreshed(counted),
        "taint": lambda: tainted(counted),
    }
    if len(sys.argv) > 1:
        filled(int(sys.argv[1]), int(sys.argv[2]))
    if os.environ.get("FOLLOW"):
        live.follow()
        known = {key for key, _, _ in live.current().snapshot.taints.kinds}
        words["seen"] = lambda: seen(known)
    print("ready", flush=True)
    for line in sys.stdin:
        print(words[line.strip()](), flush=True)


if __name__ == "__main__":
    main()
