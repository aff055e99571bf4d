from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PlacementConfig(AppConfig):
    name = "idcsched.placement"
    verbose_name = _("placements")

    def ready(self) -> None:
        from . import checks  # noqa: F401, PLC0415 - models can't be imported earlier
