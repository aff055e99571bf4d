from collections.abc import Iterator
from typing import Any

from django.core.management.base import BaseCommand

from idcsched.planning.advice import Advice, Place
from idcsched.planning.services import advice_run


class Command(BaseCommand):
    help = (
        "Say which placements would be cheaper elsewhere, and which lines have more commit than they need or fill up "
        "soon. Nothing is moved; GET advice/ shows the same."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        found = advice_run()
        self.stdout.write("\n".join(_told(found)))


def _told(found: Advice) -> Iterator[str]:
    yield (
        f"{found.placements} placements hold bandwidth, {found.left_out} of them were left out. All moves together "
        f"save {found.saves:,.0f} {found.currency} a month; {_sure(found)}."
    )
    for move in found.moves:
        places = f"{_place(move.origin)} -> {_place(move.target)}"
        yield f"  {move.placement}  {move.bandwidth_mbps:,.0f} Mbps  {places}  saves {move.saves:,.0f}"
    for commit in found.commits:
        saves = "" if commit.saves is None else f" and save {commit.saves:,.0f}"
        mbps = f"{commit.commit_mbps:,.0f} Mbps, {commit.expected_mbps:,.0f}"
        yield f"  {commit.idc}/{commit.line}: a commit of {mbps} would do{saves}"
    for line in found.full_soon:
        needed = f"{line.mbps_needed:,.0f} Mbps more carry it for 30 days"
        when = f"full in {line.days:.0f} days" if line.days else "full already"
        yield f"  {line.idc}/{line.line}: {when}; {needed}"


def _sure(found: Advice) -> str:
    most = f"no moves save more than {found.saves_at_most:,.0f}"
    return f"time ran out, and {most}" if found.status in {"time_limit", "nothing_found"} else most


def _place(place: Place) -> str:
    return "/".join([place.idc, "+".join(place.lines)])
