"""The models of providers and of simulated machines; `models` exports both."""

from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from idcsched.audit.models import Recorded
from idcsched.db.fields import CodeField, DocumentField, unique
from idcsched.feed.models import Topic

__all__ = ["Provider", "SimulatedMachine"]


class Provider(Recorded):
    """A system that starts machines. An IDC names its provider by the code."""

    audit_kind = "provider"
    feed_topic = Topic.PROVIDERS

    code = CodeField(_("code"))
    name = models.CharField(_("name"), max_length=200, blank=True)
    kind = models.CharField(_("kind"), max_length=30)
    config = DocumentField(_("configuration"), default=dict, blank=True)
    secret_ref = models.CharField(
        _("secret"), max_length=300, blank=True, help_text=_("env:NAME or file:/PATH; never the secret itself.")
    )
    enabled = models.BooleanField(
        _("enabled"), default=True, help_text=_("One that is not starts no machines, and still removes those it has.")
    )

    class Meta:
        verbose_name = _("provider")
        verbose_name_plural = _("providers")
        ordering = ["code"]
        constraints = [unique("code", name="provider_code_unique")]

    def __str__(self) -> str:
        return self.code


class SimulatedMachine(models.Model):
    """A machine of a `simulated` provider. `broken`: the machine will not come up."""

    token = models.CharField(_("token"), max_length=64, db_index=True)
    provider = CodeField(_("provider"))
    broken = models.BooleanField(_("broken"), default=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    up_at = models.DateTimeField(_("up"))
    gone_at = models.DateTimeField(_("removed"), null=True)

    class Meta:
        ordering = ["id"]
        verbose_name = _("simulated machine")
        verbose_name_plural = _("simulated machines")
        indexes = [models.Index(fields=["provider", "gone_at"], name="simulated_of_provider")]

    def __str__(self) -> str:
        return f"sim-{self.pk}"
