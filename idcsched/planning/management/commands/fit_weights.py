import json
from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from idcsched.audit.context import origin_set
from idcsched.framework.errors import IdcschedError
from idcsched.planning.recorded import MOST_DAYS, recorded_period
from idcsched.planning.weights import Fitted, fit_weights, with_weights
from idcsched.scheduling.models import Decision, Profile
from idcsched.scheduling.plugins import registry
from idcsched.scheduling.services import profile_revise


class Command(BaseCommand):
    help = (
        "Search weights for a profile by which the orders of the last days would have added less to the bills. The "
        "weights are shown, or with --save made a draft of the profile, which is not in force."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("profile")
        parser.add_argument("--days", type=int, default=30, help=f"how many whole days, at most {MOST_DAYS}")
        parser.add_argument("--budget", type=int, default=40, help="how often all orders may be decided")
        parser.add_argument("--seed", type=int, default=1, help="in which order the weights are tried")
        parser.add_argument("--save", action="store_true", help="make a revision of the profile, not in force")

    def handle(self, *args: Any, **options: Any) -> None:
        profile = Profile.objects.select_related("active").filter(code=options["profile"]).first()
        if profile is None or profile.active is None:
            raise CommandError(f"there is no profile {options['profile']}")
        if not 1 <= options["days"] <= MOST_DAYS:
            raise CommandError(f"--days must be between 1 and {MOST_DAYS}")
        body = profile.active.body
        try:
            period = recorded_period(days=options["days"], now=timezone.now(), decisions=Decision.objects.all())
        except IdcschedError as refusal:
            raise CommandError(str(refusal)) from refusal
        fitted = fit_weights(period, body, registry(), budget=options["budget"], seed=options["seed"])
        self.stdout.write(_table(fitted, period.currency))
        draft, said = with_weights(body, fitted.after), _message(fitted, period.currency, options)
        if not options["save"]:
            self.stdout.write(json.dumps({**draft, "message": said}, indent=2, ensure_ascii=False))
        elif fitted.after == fitted.before:
            self.stdout.write("Nothing better was found, so no draft was made.")
        else:
            with origin_set(actor="fit_weights", via="command"):
                revision = profile_revise(profile=profile, body=draft, message=said, activate=False)
            self.stdout.write(f"Revision {revision.number} of {profile.code} is a draft; it is not in force.")


def _table(fitted: Fitted, currency: str) -> str:
    width = max(map(len, fitted.before))
    weights = [f"{name:{width}}  {fitted.before[name]:8g}  {fitted.after[name]:8g}" for name in fitted.before]
    money = [
        f"{what:32}  {before.added:12,.0f}  {after.added:12,.0f}"
        for what, before, after in (
            ("fitted on every other day", fitted.fitted_before, fitted.fitted_after),
            ("checked on the days between", fitted.checked_before, fitted.checked_after),
        )
    ]
    return "\n".join(
        [
            f"{'weight':{width}}  {'before':>8}  {'after':>8}",
            *weights,
            "",
            f"{f'{currency} a month that orders add':32}  {'before':>12}  {'after':>12}",
            *money,
            "",
        ]
    )


def _message(fitted: Fitted, currency: str, options: dict[str, Any]) -> str:
    return (
        f"Weights fitted on {options['days']} days ({fitted.courses} courses, seed {options['seed']}): "
        f"{fitted.fitted_before.added:,.0f} -> {fitted.fitted_after.added:,.0f} {currency} a month on every other "
        f"day's orders, {fitted.checked_before.added:,.0f} -> {fitted.checked_after.added:,.0f} on the others'."
    )
