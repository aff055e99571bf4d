import re
from argparse import ArgumentParser
from datetime import datetime, timedelta
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone
from django.utils.dateparse import parse_datetime

from idcsched.accounts.models import Tenant, User
from idcsched.accounts.services import token_issue
from idcsched.audit.context import origin_set
from idcsched.framework.errors import IdcschedError


class Command(BaseCommand):
    """The command prints only the token, so that a script can read it."""

    help = "Makes an API token for a user and prints it. It can't be shown again."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the user's name")
        parser.add_argument("name", help="what the token is for")
        parser.add_argument("--tenant", help="code of the tenant for which it acts; default: the user's own")
        parser.add_argument("--expires", help="when it expires: a number of days (30d), or a time (2030-01-31T00:00Z)")
        parser.add_argument("--read-only", action="store_true", help="it may only read")
        parser.add_argument("--network", action="append", default=[], help="a network from which it may be used")

    def handle(self, *args: Any, **options: Any) -> None:
        with origin_set(actor="system", via="command", message="token_create"):
            try:
                issued = token_issue(
                    user=_row_or_error(User, "username", options["user"]),
                    name=options["name"],
                    tenant=_row_or_error(Tenant, "code", options["tenant"]) if options["tenant"] else None,
                    expires_at=_expiry(options["expires"]),
                    read_only=options["read_only"],
                    allowed_networks=options["network"],
                )
            except IdcschedError as error:
                raise CommandError(str(error)) from error
        self.stdout.write(issued.text)


def _row_or_error(model: type[Any], field: str, value: str) -> Any:
    row = model.objects.filter(**{field: value}).first()
    if row is None:
        raise CommandError(f"There is no {model._meta.verbose_name} {value}.")
    return row


def _expiry(text: str | None) -> datetime | None:
    if text is None:
        return None
    if days := re.fullmatch(r"([1-9][0-9]{0,4})d", text):
        return timezone.now() + timedelta(days=int(days[1]))
    try:
        expiry = parse_datetime(text)
    except ValueError:
        expiry = None
    if expiry is None:
        raise CommandError(f"{text} is neither a number of days such as 30d nor a time such as 2030-01-31T00:00Z.")
    return expiry if timezone.is_aware(expiry) else timezone.make_aware(expiry)
