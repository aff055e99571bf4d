from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from idcsched.accounts.known_codes import codes_register


class PlacementConfig(AppConfig):
    name = "idcsched.placement"
    verbose_name = _("orders")

    def ready(self) -> None:
        from . import checks, provider_rows  # noqa: F401, PLC0415 - models can't be imported earlier

        codes_register("provider", provider_rows.provider_codes)
