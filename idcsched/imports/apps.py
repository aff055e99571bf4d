from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class ImportsConfig(AppConfig):
    name = "idcsched.imports"
    label = "transfer"  # the prefix of the app's table
    verbose_name = _("import and export")
