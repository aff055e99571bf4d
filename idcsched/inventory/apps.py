from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _

from idcsched.audit.naming import naming_register


class InventoryConfig(AppConfig):
    name = "idcsched.inventory"
    verbose_name = _("inventory")

    def ready(self) -> None:
        from . import naming  # noqa: PLC0415 - models can't be imported earlier

        naming_register(naming.named_by)
