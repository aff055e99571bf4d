from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from idcsched.accounts.selectors import user_named
from idcsched.accounts.services import second_factor_reset
from idcsched.audit.context import origin_set
from idcsched.framework.errors import IdcschedError


class Command(BaseCommand):
    help = "Delete a user's second factor and recovery codes; the user sets up a new one when they sign in next."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("user", help="the user's name")

    def handle(self, *args: Any, user: str, **options: Any) -> None:
        try:
            row = user_named(user, "/user")
        except IdcschedError as refusal:
            raise CommandError(str(refusal)) from refusal
        with origin_set(actor="system", via="command", message="second_factor_reset"):
            deleted = second_factor_reset(user=row)
        self.stdout.write(f"The second factor of {user} is deleted." if deleted else f"{user} has none.")
