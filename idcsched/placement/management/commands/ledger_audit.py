import sys
from typing import Any

from django.core.management.base import BaseCommand

from idcsched.placement.ledger_audit import ledger_differences


class Command(BaseCommand):
    help = "Works the ledger out anew from the placements and tells every difference; 1 if there is one."

    def handle(self, *args: Any, **options: Any) -> None:
        differences = ledger_differences()
        for difference in differences:
            self.stdout.write(str(difference))
        self.stdout.write(
            f"{len(differences)} differences" if differences else "The ledger agrees with the placements."
        )
        if differences:
            sys.exit(1)
