"""The system check that warns of collectors that cannot be loaded."""

from typing import Any

from django.core import checks

from metrics_ingest.sources.kinds import kinds


@checks.register()
def check_collectors(**_: Any) -> list[checks.CheckMessage]:
    return [
        checks.Warning(
            f"the collector {source} cannot be loaded: {error}",
            hint="Sources of its kind cannot be saved or asked. Mend or uninstall the distribution that offers it.",
            id="idcsched.W102",
        )
        for source, error in kinds().broken.items()
    ]
