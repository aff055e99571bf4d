from argparse import ArgumentParser
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from django.core.management.base import BaseCommand, CommandError

from idcsched.accounts.roles import Principal, Role
from idcsched.audit.context import origin_set
from idcsched.framework.errors import IdcschedError
from idcsched.imports.importing import Outcome, import_inventory
from idcsched.imports.models import Missing
from idcsched.imports.reading import MAX_BYTES, read_files
from idcsched.imports.resources import KINDS
from idcsched.language.wording import explained

LOCAL: Final = Principal(user_id=0, username="import_inventory", role=Role.ADMIN, all_tenants=True)
"""The principal of whoever may run commands on this machine, and so may write everything."""
MANY = 100


class Command(BaseCommand):
    help = (
        "Import regions, ISPs, IDCs, lines, taints and affinities from Excel, CSV or JSON: all or nothing. A row that "
        "is there already is changed, another is created. With --dry-run all is tried and shown, nothing is written."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        kinds = [kind.name for kind in KINDS]
        parser.add_argument("files", nargs="+", metavar="FILE", help="Excel, CSV or JSON; several are one import")
        parser.add_argument(
            "--dry-run", action="store_true", help="show what would be done to each row, and do nothing"
        )
        parser.add_argument("--kind", choices=kinds, default="", help="of tables whose names don't begin with it")
        parser.add_argument(
            "--missing",
            choices=Missing.values,
            default=Missing.KEEP,
            help="what becomes of rows that the files don't have: they are kept, IDCs are retired, or they are deleted",
        )
        parser.add_argument("--message", default="", help="why, for the change history")
        parser.add_argument("--actor", default=LOCAL.username, help="who, for the change history")

    def handle(self, *args: Any, **options: Any) -> None:
        contents = read_files([(Path(name).name, _bytes(Path(name))) for name in options["files"]], options["kind"])
        if options["verbosity"]:
            for note in contents.notes:
                self.stdout.write(note)
        try:
            with origin_set(actor=options["actor"], via="import", message=options["message"]):
                outcome = import_inventory(
                    contents,
                    principal=LOCAL,
                    missing=options["missing"],
                    dry_run=options["dry_run"],
                    progress=self._progress(),
                )
        except IdcschedError as refusal:
            raise CommandError(str(refusal)) from refusal
        self._report(outcome, options)

    def _report(self, outcome: Outcome, options: Mapping[str, Any]) -> None:
        for fault in outcome.faults:
            self.stderr.write(": ".join(filter(None, (fault.where, explained(fault.error)))))
        if outcome.faults:
            count = len(outcome.faults)
            raise CommandError(f"nothing was imported: {count} {'error' if count == 1 else 'errors'}")
        if options["verbosity"] and (options["dry_run"] or options["verbosity"] > 1):
            for change in outcome.changes:
                self.stdout.write(str(change))
        if options["verbosity"]:
            for kind, counts in outcome.counts.items():
                summary = ", ".join(f"{count:,} {action}" for action, count in counts.items() if count)
                self.stdout.write(f"{kind}: {summary or 'nothing'}")
            self.stdout.write("Nothing was written: this was a dry run." if options["dry_run"] else "Imported.")

    def _progress(self) -> Any:
        """Return a function that reports progress: a line for every tenth of many rows."""
        last_tenth = -1

        def progress(done: int, total: int) -> None:
            nonlocal last_tenth
            tenth = 10 if not total else 10 * done // total
            if tenth > last_tenth and total > MANY:
                last_tenth = tenth
                self.stderr.write(f"{done:,} of {total:,} rows")

        return progress


def _bytes(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(MAX_BYTES + 1)
    except OSError as error:
        raise CommandError(f"cannot read {path}: {error.strerror}") from error
