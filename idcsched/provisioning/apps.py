from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from idcsched.accounts.known_codes import codes_register


class ProvisioningConfig(AppConfig):
    name = "idcsched.provisioning"
    verbose_name = _("providers")

    def ready(self) -> None:
        from . import checks, driver_kinds, providers  # noqa: F401, PLC0415 - models can't be imported earlier

        codes_register("provider", providers.provider_codes)
        codes_register("provider_kind", lambda: driver_kinds.driver_kinds().classes)
