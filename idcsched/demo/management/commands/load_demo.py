from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from idcsched.accounts.models import Tenant
from idcsched.demo.credentials import TENANT, credentials_file, credentials_issue
from idcsched.demo.loading import demo_load
from idcsched.demo.measuring import measurements_store
from idcsched.framework.errors import IdcschedError
from idcsched.inventory.models import Idc


class Command(BaseCommand):
    help = "Load the seed example and the demo inventory into an empty database, measured as of now."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--if-empty",
            action="store_true",
            help="Where IDCs are there already, load nothing; a demo loaded earlier is brought up to date.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        existing = Idc.objects.count()
        try:
            if existing and not options["if_empty"]:
                raise CommandError(f"there are {existing} IDCs already; the demo goes into an empty database only")
            report = _bring_up_to_date(existing) if existing else _load()
        except IdcschedError as refusal:
            raise CommandError(f"the demo can't be loaded: {refusal}") from refusal
        except OSError as error:
            raise CommandError(f"cannot write {credentials_file()}: {error.strerror}") from error
        if options["verbosity"]:
            self.stdout.write(report)


def _load() -> str:
    counts = demo_load(now=timezone.now())
    return (
        f"Loaded {counts['idcs']} IDCs with {counts['lines']} lines, {counts['orders']} past orders with their "
        f"decisions, and {counts['values']:,} measured values. "
        f"Users, passwords and tokens: {credentials_file()}"
    )


def _bring_up_to_date(existing: int) -> str:
    """Store the measurements that a loaded demo has missed, and replace a lost file of credentials; return a report."""
    tenant = Tenant.objects.filter(code=TENANT).first()
    if tenant is None:
        return f"There are {existing} IDCs already; nothing was loaded."
    now = timezone.now()
    caught_up = measurements_store(at=now, now=now)
    if not credentials_file().exists():
        credentials_issue(tenant=tenant)
    return f"The demo is there already; {caught_up['values']:,} missed values were added."
