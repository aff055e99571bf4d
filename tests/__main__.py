"""Runs the tests on SQLite and on PostgreSQL, with the servers that they need: `python -m tests quick|long`.

What follows is handed to pytest: `python -m tests quick -k taint`. `python -m tests total` names the failures of the
last runs of all tiers and counts what they came to.
"""

import os
import shutil
import signal
import subprocess
import sys
import xml.etree.ElementTree as ET
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from time import monotonic

from idcsched.demo.processes import leash
from tests.servers import Unavailable, chromium, postgresql, prometheus, redis

SOME_FAILED, NOTHING_TO_RUN = 1, 5  # pytest's exit statuses
MOST_AGAIN = 3
"""So many failures of a leg are tried once more: where there are more, it is not the machine that was busy."""
TIERS: Mapping[str, list[str]] = {
    "quick": ["-m", "not long", "--timeout", "300"],
    "long": ["-m", "long or hypothesis", "--timeout", "900"],
}
PARALLEL = ["--numprocesses", "auto", "--dist", "loadscope", "--no-loadscope-reorder"]  # as tests.together says
ALONE = ["--last-failed", "--last-failed-no-failures", "none", "--numprocesses", "0"]
# A leg has its own database; and without bytecode each worker, and each process that a test starts, compiles all anew.
NOT_INHERITED = {"DATABASE_URL", "PYTHONDONTWRITEBYTECODE"}
REPORTS = Path("var/tests")
AGAIN = ", once more.xml"
LONGEST_REASON = 300  # characters of why a test failed, where failures are listed
DIED = (
    '<testsuites><testsuite name="pytest" tests="1" failures="0" errors="1" skipped="0">'
    '<testcase classname="pytest" name="the whole run"><error message="never came to its end"/></testcase>'
    "</testsuite></testsuites>"
)
"""What a leg came to that never came to an end."""
# Judged in the end of CI's run; on one leg only, since it makes the tests half as slow again.
ENGINE = "idcsched/framework/*"
COVERAGE = ["--cov", "--cov-report=", "--cov-fail-under=0"]
SERVERS: Mapping[str, Callable[[], AbstractContextManager[str]]] = {
    "TEST_DATABASE_URL": postgresql.available,
    "TEST_REDIS_URL": redis.available,
    "TEST_CHROMIUM": chromium.available,
    "TEST_PROMETHEUS": prometheus.present,  # each test starts its own: what it scrapes is the test's
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Leg:
    """One run of pytest."""

    name: str
    report: Path
    environment: Mapping[str, str]
    options: list[str]


def main(tier: str, *options: str) -> int:
    """Run every leg, whatever became of the one before; returns the exit status."""
    missing: list[str] = []
    in_ci = os.environ.get("CI") == "true"
    measured = in_ci and tier == "quick" and not options
    chosen = [*TIERS[tier], *options]
    with _servers(missing) as found:
        legs = list(_legs(tier, found, COVERAGE if measured else []))
        outcomes = {leg.name: _run(leg, chosen) for leg in legs}
    failed = [name for name, (status, _) in outcomes.items() if status]
    if measured and not failed:
        failed += _coverage()
    print()
    for name, (status, seconds) in outcomes.items():
        print(f"{name}: {'failed' if status else 'passed'} in {seconds:.0f} s")
    for reason in missing:
        print(f"Could not be had, so its tests did not run: {reason}")
    print(_summary([leg.report for leg in legs]))
    return 1 if failed or (missing and in_ci) else 0


@contextmanager
def _servers(missing: list[str]) -> Iterator[dict[str, str]]:
    """Whichever servers can be had, by variable; the reasons for the others go to `missing`."""
    print("Starting PostgreSQL and Redis, looking for Chromium and Prometheus ...", flush=True)
    found: dict[str, str] = {}
    with ExitStack() as stack:
        for variable, available in SERVERS.items():
            try:
                found[variable] = stack.enter_context(available())
            except Unavailable as error:
                missing.append(str(error))
        yield found


def _legs(tier: str, found: Mapping[str, str], measure: list[str]) -> Iterator[Leg]:
    profile = {"HYPOTHESIS_PROFILE": tier}
    sqlite, postgresql = (REPORTS / f"{tier} on {database}.xml" for database in ("SQLite", "PostgreSQL"))
    yield Leg(name="On SQLite", report=sqlite, environment={**found, **profile}, options=measure)
    if url := found.get("TEST_DATABASE_URL"):
        environment = {**found, **profile, "DATABASE_URL": url}
        yield Leg(name="On PostgreSQL", report=postgresql, environment=environment, options=["--database-only"])


def _run(leg: Leg, options: list[str]) -> tuple[int, float]:
    """The exit status and the seconds. What fails among others and passes alone, once more, does not fail the leg."""
    print(f"{leg.name} ...", flush=True)
    begun, cache = monotonic(), REPORTS / f"{leg.report.stem} cache"
    shutil.rmtree(cache, ignore_errors=True)
    chosen = [*PARALLEL, *options, *leg.options, "-o", f"cache_dir={cache}"]
    _again(leg.report).unlink(missing_ok=True)
    status = _pytest(leg, leg.report, chosen)
    if status == SOME_FAILED and 0 < len(_failures(_suite(leg.report))) <= MOST_AGAIN:
        print("What has failed, once more, alone ...", flush=True)
        # Not `--no-cov`: pytest-cov fails with it whatever is marked `no_cover`.
        alone = [*(option for option in chosen if option not in COVERAGE), *ALONE]
        status = _pytest(leg, _again(leg.report), alone)
        return status, monotonic() - begun
    return (0 if status == NOTHING_TO_RUN else status), monotonic() - begun


def _pytest(leg: Leg, report: Path, options: list[str]) -> int:
    report.parent.mkdir(parents=True, exist_ok=True)
    report.write_text(DIED, encoding="utf-8")
    inherited = {name: value for name, value in os.environ.items() if name not in NOT_INHERITED}
    parent = os.getpid()
    return subprocess.Popen(
        [sys.executable, "-m", "pytest", "--quiet", f"--junitxml={report}", *options],
        env={**inherited, **leg.environment},
        preexec_fn=lambda: leash(signal.SIGTERM, parent),  # noqa: PLW1509 - no threads here
    ).wait()


def _again(report: Path) -> Path:
    """Where it is told what came of the failures when they were tried once more."""
    return report.with_name(f"{report.stem}{AGAIN}")


def _suite(report: Path) -> ET.Element:
    found = ET.parse(report).getroot().find("testsuite")
    assert found is not None, f"{report} tells of no tests"
    return found


def _summary(reports: Iterable[Path]) -> str:
    """What failed, a line each, and then all legs in one line: `5 passed, 0 failed, 1 skipped`.

    What passed when it was tried once more is named, and counts as passed.
    """
    counts: Counter[str] = Counter()
    lines: list[str] = []
    for report in sorted(report for report in reports if not report.name.endswith(AGAIN)):
        suite, again = _suite(report), _again(report)
        counts.update({key: int(suite.get(key, 0)) for key in ("tests", "failures", "errors", "skipped")})
        alone = _passed(_suite(again)) if again.exists() else set()
        for test, reasons in _failures(suite).items():
            outcome = "PASSED ALONE" if test in alone else "FAILED"
            counts[outcome] += len(reasons)
            lines += [f"{outcome} {report.stem}: {test}: {why}" for why in reasons]
    failed = counts["failures"] + counts["errors"] - counts["PASSED ALONE"]
    passed = counts["tests"] - failed - counts["skipped"]
    return "\n".join([*lines, f"{passed} passed, {failed} failed, {counts['skipped']} skipped"])


def _failures(suite: ET.Element) -> Mapping[str, list[str]]:
    """Test → why it failed, and why its end did."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for case in suite.iter("testcase"):
        for problem in (*case.findall("failure"), *case.findall("error")):
            why = " ".join((problem.get("message") or "").split())
            found[_name(case)].append(f"{why:.{LONGEST_REASON}}")
    return found


def _passed(suite: ET.Element) -> set[str]:
    """Who ran and did not fail."""
    return {_name(case) for case in suite.iter("testcase") if case.find("skipped") is None} - set(_failures(suite))


def _name(case: ET.Element) -> str:
    return f"{case.get('classname')}::{case.get('name')}"


def _coverage() -> list[str]:
    """What fails: `coverage` where too little of the whole is covered, or not all of the engine."""
    print("Measuring coverage ...", flush=True)
    report = [sys.executable, "-m", "coverage", "report"]
    engine = [f"--include={ENGINE}", "--fail-under=100"]
    for part in ([], engine):
        if subprocess.run([*report, *part, "--format=total"], stdout=subprocess.DEVNULL, check=False).returncode:
            subprocess.run([*report, *part], check=False)
            return ["coverage"]
    total = subprocess.run([*report, "--format=total"], capture_output=True, text=True, check=True).stdout.strip()
    print(f"Lines and branches covered: {total} %, of the engine 100 %")
    return []


if __name__ == "__main__":
    leash(signal.SIGTERM, os.getppid())
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    if sys.argv[1:] == ["total"]:
        print(_summary(REPORTS.glob("*.xml")))
        sys.exit()
    if len(sys.argv) < 2 or sys.argv[1] not in TIERS:
        sys.exit(f"usage: python -m tests total|{'|'.join(TIERS)} [pytest options]")
    try:
        sys.exit(main(*sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
