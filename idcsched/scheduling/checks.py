"""`manage.py check` names plugins that cannot be loaded; they take nothing else down."""

from typing import Any

from django.core import checks

from .plugins import registry


@checks.register()
def check_plugins(**_: Any) -> list[checks.CheckMessage]:
    return [
        checks.Warning(
            f"the scheduling plugin {source} cannot be loaded: {error}",
            hint="Profiles that name it cannot be saved or run. Mend or uninstall the distribution that offers it.",
            id="idcsched.W101",
        )
        for source, error in registry().broken.items()
    ]
