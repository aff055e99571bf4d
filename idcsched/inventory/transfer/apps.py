from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class TransferConfig(AppConfig):
    """A part of the inventory's room with a table of its own."""

    name = "idcsched.inventory.transfer"
    verbose_name = _("import and export")
