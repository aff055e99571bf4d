import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from idcsched.framework.errors import IdcschedError
from idcsched.framework.profile import Profile
from idcsched.planning.backtest import backtest
from idcsched.planning.recorded import MOST_DAYS, recorded_period
from idcsched.planning.table import result_table
from idcsched.scheduling.models import Decision
from idcsched.scheduling.models import Profile as Row
from idcsched.scheduling.profile_checks import profile_check


class Command(BaseCommand):
    help = (
        "Decide the orders of the last days again under other profiles, and show what a month on the lines would have "
        "cost. Nothing is written and nothing is moved."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("profiles", nargs="*", help="profiles in force; all of them unless some are named")
        parser.add_argument("--days", type=int, default=30, help=f"how many whole days, at most {MOST_DAYS}")
        parser.add_argument("--draft", action="append", default=[], metavar="FILE", help="a profile's document in JSON")
        parser.add_argument(
            "--optimum", type=float, default=0, metavar="SECONDS", help="search the cheapest course for so long (0)"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not 1 <= options["days"] <= MOST_DAYS:
            raise CommandError(f"--days must be between 1 and {MOST_DAYS}")
        try:
            policies = _in_force(options["profiles"]) | {Path(name).name: _draft(name) for name in options["draft"]}
            period = recorded_period(days=options["days"], now=timezone.now(), decisions=Decision.objects.all())
        except IdcschedError as refusal:
            raise CommandError(str(refusal)) from refusal
        self.stdout.write(result_table(backtest(period, policies, optimum_seconds=options["optimum"])))


def _in_force(codes: list[str]) -> dict[str, Profile]:
    rows = {row.code: row for row in Row.objects.select_related("active")}
    if unknown := [code for code in codes if code not in rows]:
        raise CommandError(f"there is no profile {unknown[0]}; there are {', '.join(sorted(rows))}")
    return {
        code: profile_check(code, row.active.body)
        for code, row in rows.items()
        if row.active and code in (codes or rows)
    }


def _draft(name: str) -> Profile:
    try:
        document = json.loads(Path(name).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{name}: {error}") from error
    body = {key: value for key, value in document.items() if key not in ("code", "name", "message")}
    return profile_check(document.get("code", "draft"), body)
