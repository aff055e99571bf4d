from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

from idcsched.audit.naming import naming_register


class MetricsIngestConfig(AppConfig):
    name = "metrics_ingest"
    verbose_name = _("metrics")

    def ready(self) -> None:
        from . import checks, selectors  # noqa: F401, PLC0415 - models can't be imported earlier
        from .builtin import builtin_metrics_ensure  # noqa: PLC0415

        naming_register(selectors.sources_naming)
        post_migrate.connect(builtin_metrics_ensure, sender=self)
