import sys
from argparse import ArgumentParser
from getpass import getpass
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from idcsched.accounts.models import User
from idcsched.accounts.roles import Role
from idcsched.accounts.services import user_create
from idcsched.audit.context import origin_set
from idcsched.framework.errors import IdcschedError


class Command(BaseCommand):
    help = "Create the first administrator, who creates all other users. Where there is one already, nothing is done."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the administrator's name")
        parser.add_argument("--email", default="")
        parser.add_argument(
            "--password-file",
            metavar="FILE",
            help="a file whose first line is the password, - for standard input; default: asked for at the terminal",
        )

    def handle(self, *args: Any, user: str, email: str, password_file: str | None, **options: Any) -> None:
        existing = User.objects.filter(role=Role.ADMIN, is_active=True).order_by("pk").first()
        if existing is not None:
            self.stdout.write(f"There is an administrator already: {existing.username}. Nothing was done.")
            return
        password = _asked() if password_file is None else _read(password_file)
        with origin_set(actor="system", via="command", message="first_admin"):
            try:
                user_create(username=user, password=password, role=Role.ADMIN, email=email)
            except IdcschedError as refusal:
                raise CommandError(str(refusal)) from refusal
        self.stdout.write(f"Created the administrator {user}.")


def _asked() -> str:
    if not sys.stdin.isatty():
        raise CommandError("There is no terminal to ask for the password at: give it with --password-file.")
    password = getpass("Password: ")
    if password != getpass("Password, again: "):
        raise CommandError("The two passwords differ.")
    return password


def _read(name: str) -> str:
    try:
        text = sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(
            f"cannot read {name}: {getattr(error, 'strerror', None) or 'it is not UTF-8 text'}"
        ) from error
    return text.partition("\n")[0].rstrip("\r")
