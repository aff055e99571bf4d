from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PlacementConfig(AppConfig):
    name = "idcsched.placement"
    verbose_name = _("orders")
