from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from idcsched.placement.shape_learning import shapes_learn
from idcsched.scheduling.in_words import amount
from idcsched.scheduling.models import Shape
from idcsched.scheduling.table import aligned

HEAD = ("tenant", "business", "in force", "lines", "days", "error", "last attempt")


class Command(BaseCommand):
    help = "Learns the traffic shapes of businesses now, as the job of the night does, and lists what is known of each."

    def handle(self, *args: Any, **options: Any) -> None:
        run = shapes_learn(now=timezone.now())
        if run is None:
            raise CommandError("Another process is learning shapes right now.")
        rows = [_row(shape) for shape in Shape.objects.select_related("tenant").order_by("business", "tenant__code")]
        for line in aligned([HEAD, *rows], right=(3, 4, 5)) if rows else ["No orders of a business to learn from."]:
            self.stdout.write(line)
        if run.lines < run.measured:
            self.stdout.write(f"Too many orders: only {run.lines} of {run.measured} lines were looked at.")
        if run.left_out:
            self.stdout.write(f"Too many businesses: {run.left_out} were left out.")


def _row(shape: Shape) -> tuple[str, ...]:
    """Return the row's cells; the figures are those of the last attempt."""
    return (
        shape.tenant.code if shape.tenant else "-",
        shape.business,
        shape.in_force or "-",
        *(amount(figure) for figure in (shape.tried_lines, shape.tried_days)),
        "-" if shape.tried_error is None else f"{shape.tried_error:.0%}",
        str(shape.get_verdict_display()) or "-",
    )
