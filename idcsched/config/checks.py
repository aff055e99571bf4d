"""System checks on the environment, and the refusal to serve while one of them fails."""

import sys
from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core import checks

from idcsched.config.env import Environment

__all__ = ["environment_check", "environment_required"]


@checks.register("environment")
def environment_check(app_configs: Sequence[AppConfig] | None = None, **kwargs: Any) -> list[checks.CheckMessage]:
    """Return an error for each variable that can't be used, and a warning for each that is unknown."""
    environment: Environment = settings.ENVIRONMENT
    problems = [*environment.problems, *environment.replaced()]
    return [
        *(checks.Error(item.message, hint=item.hint, id=f"idcsched.{item.code}") for item in problems),
        *(checks.Warning(item.message, hint=item.hint, id=f"idcsched.{item.code}") for item in environment.unknown()),
    ]


def environment_required() -> None:
    """Stop a process that is about to serve while a setting is wrong; management commands run the check anyway."""
    errors = [message for message in environment_check() if message.is_serious()]
    if errors:
        sys.exit("\n".join(["idcsched does not start with wrong settings:", *map(str, errors)]))
