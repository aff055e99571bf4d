from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _


class MetricsIngestConfig(AppConfig):
    name = "metrics_ingest"
    verbose_name = _("metrics")

    def ready(self) -> None:
        from .builtin import builtin_metrics_ensure  # noqa: PLC0415 - models can't be imported earlier

        post_migrate.connect(builtin_metrics_ensure, sender=self)
