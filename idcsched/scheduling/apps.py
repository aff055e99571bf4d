from django.apps import AppConfig
from django.db.models.signals import post_migrate
from django.utils.translation import gettext_lazy as _

from idcsched.accounts.known_codes import code_check_register, codes_register
from idcsched.audit.naming import naming_register


class SchedulingConfig(AppConfig):
    name = "idcsched.scheduling"
    label = "scheduling"
    verbose_name = _("scheduling")

    def ready(self) -> None:
        from . import checks, profile_checks, selectors, shapes, shipped  # noqa: F401, PLC0415  # needs the app registry

        code_check_register("profile", selectors.profile_known)
        codes_register("profile", selectors.profile_codes)
        naming_register(profile_checks.profiles_naming)
        naming_register(shapes.shapes_naming)
        post_migrate.connect(shipped.shipped_profiles_ensure, sender=self)
