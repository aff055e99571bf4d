from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ApiConfig(AppConfig):
    name = "idcsched.api"
    label = "api"
    verbose_name = _("REST API")

    def ready(self) -> None:
        from . import openapi  # noqa: F401, PLC0415  # its extensions register themselves
