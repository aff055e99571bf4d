import sys
from argparse import ArgumentParser
from datetime import timedelta
from getpass import getpass
from pathlib import Path
from typing import Any, Final

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from idcsched.accounts.models import ApiToken, User
from idcsched.accounts.roles import Role
from idcsched.accounts.services import token_issue, user_create
from idcsched.audit.context import origin_set
from idcsched.db.migrated import migrated
from idcsched.framework.errors import IdcschedError
from idcsched.inventory.models import Idc, Region
from idcsched.inventory.services import regions_create

TOKEN_DAYS: Final = 30


class Command(BaseCommand):
    """Only the token goes to standard output, so that a script can read it."""

    help = (
        "Set up a new installation: agree on its currency and billing time zone, create regions, the first "
        "administrator and a token, which is printed. At a terminal it asks for what no argument says. What is there "
        "already is left alone, so that it may be run again."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--currency", metavar="CODE", help="refuse to go on unless the setting CURRENCY is this one"
        )
        parser.add_argument("--billing-zone", metavar="ZONE", help="the same of BILLING_ZONE")
        parser.add_argument(
            "--regions", metavar="CODES", help="regions, separated by commas; A/A-north is the region A-north in A"
        )
        parser.add_argument("--admin", metavar="NAME", help="the administrator's name; default: admin")
        parser.add_argument(
            "--password-file",
            metavar="FILE",
            help="a file whose first line is the password, - for standard input; default: asked for at the terminal",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if not migrated():
            raise CommandError("The database is not at this version: run `manage.py upgrade` first.")
        self._agree("CURRENCY", "Currency of all prices", options["currency"])
        self._agree("BILLING_ZONE", "Time zone in which ISPs cut months and days", options["billing_zone"])
        with origin_set(actor="system", via="command", message="setup"):
            try:
                self._regions(options["regions"])
                administrator = self._administrator(options["admin"], options["password_file"])
                self._token(administrator)
            except IdcschedError as refusal:
                raise CommandError(str(refusal)) from refusal
        self._say_what_comes_next(administrator)

    def _agree(self, setting: str, meaning: str, wanted: str | None) -> None:
        """All prices and months are meant in what the setting says: better to stop now than to find out later."""
        value = getattr(settings, setting)
        wanted = wanted or self._answer(f"{meaning} [{value}]") or value
        if wanted != value:
            raise CommandError(
                f"{setting} is {value}. Set {setting}={wanted} where the other settings are, restart all processes, "
                "and run this again. Nothing was done."
            )
        self._say(f"{setting} is {value}.")

    def _regions(self, codes: str | None) -> None:
        existing = set(Region.objects.values_list("code", flat=True))
        if codes is None and not existing:
            codes = self._answer("Regions, such as A,B/B-north (none if you import them)")
        documents = dict[str, dict[str, Any]]()
        for path in filter(None, (codes or "").split(",")):
            parent = None
            for code in path.strip().split("/"):
                if code not in existing:
                    documents.setdefault(code, {"code": code, "parent": parent})
                parent = code
        regions_create(documents=[*documents.values()])
        self._say(f"Created the regions {', '.join(documents)}." if documents else "Created no region.")

    def _administrator(self, name: str | None, password_file: str | None) -> User:
        existing = User.objects.filter(role=Role.ADMIN, is_active=True).order_by("pk").first()
        if existing is not None:
            self._say(f"There is an administrator already: {existing.username}.")
            return existing
        name = name or self._answer("Name of the first administrator [admin]") or "admin"
        password = self._password() if password_file is None else _read(password_file)
        created: User = user_create(username=name, password=password, role=Role.ADMIN)
        self._say(f"Created the administrator {name}.")
        return created

    def _token(self, administrator: User) -> None:
        if ApiToken.objects.exists():
            self._say("There is a token already.")
            return
        expires_at = timezone.now() + timedelta(days=TOKEN_DAYS)
        issued = token_issue(user=administrator, name="first", expires_at=expires_at)
        self._say(f"A token of {administrator.username}, for {TOKEN_DAYS} days. It can't be shown again:")
        self.stdout.write(issued.text)

    def _say_what_comes_next(self, administrator: User) -> None:
        self._say(f"Next: sign in at /admin/ as {administrator.username}, and make users and tokens for all others.")
        if not Idc.objects.exists():
            self._say("Import your IDCs and lines (docs/importing.md), and have the traffic of each line measured")
            self._say("(docs/collectors.md): without that no order for bandwidth fits there.")
            self._say("Or try the demo: `manage.py load_demo`.")

    def _password(self) -> str:
        """The password that is typed twice at the terminal."""
        if not sys.stdin.isatty():
            raise CommandError("There is no terminal to ask for the password at: give it with --password-file.")
        while (password := getpass("Password: ")) != getpass("Password, again: "):
            self._say("The two differ. Once more:")
        return password

    def _answer(self, question: str) -> str:
        """What is typed at the terminal; nothing without one."""
        if not sys.stdin.isatty():
            return ""
        self.stderr.write(f"{question}: ", style_func=str, ending="")
        self.stderr.flush()
        return sys.stdin.readline().strip()

    def _say(self, text: str) -> None:
        self.stderr.write(text, style_func=str)


def _read(name: str) -> str:
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(
            f"cannot read {name}: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}"
        ) from error
    return text.partition("\n")[0].rstrip("\r")
