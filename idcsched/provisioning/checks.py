"""The check of `manage.py check` that warns of provider drivers which can't be loaded; other drivers still work."""

from typing import Any

from django.core import checks

from .driver_kinds import driver_kinds


@checks.register()
def check_drivers(**_: Any) -> list[checks.CheckMessage]:
    return [
        checks.Warning(
            f"the provider driver {source} cannot be loaded: {error}",
            hint="Its machines can be neither started nor removed. Mend or uninstall the distribution that offers it.",
            id="idcsched.W103",
        )
        for source, error in driver_kinds().broken.items()
    ]
