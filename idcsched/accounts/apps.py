from django.apps import AppConfig
from django.contrib.admin import apps as admin_apps  # Django would take an imported AdminConfig for this app's own
from django.utils.translation import gettext_lazy as _


class AccountsConfig(AppConfig):
    name = "idcsched.accounts"
    verbose_name = _("accounts")
    default = True

    def ready(self) -> None:
        from . import checks  # noqa: F401, PLC0415 - registers them


class AdministrationConfig(admin_apps.AdminConfig):
    """Django's admin on the project's own site."""

    default_site = "idcsched.accounts.site.Site"
    default = False
