from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class PlanningConfig(AppConfig):
    name = "idcsched.planning"
    label = "planning"
    verbose_name = _("planning")
