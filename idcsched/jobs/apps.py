from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class WorkConfig(AppConfig):
    name = "idcsched.jobs"
    label = "work"
    verbose_name = _("background work")
