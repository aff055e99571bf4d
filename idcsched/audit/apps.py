from django.apps import AppConfig
from django.utils.translation import gettext_lazy as _


class AuditConfig(AppConfig):
    name = "idcsched.audit"
    verbose_name = _("change history")
