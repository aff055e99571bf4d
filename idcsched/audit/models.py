from typing import Any, ClassVar

from django.core.serializers.json import DjangoJSONEncoder
from django.db import models
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from idcsched.db.fields import one_of
from idcsched.feed.models import Topic

__all__ = ["Action", "Change", "Recorded", "Via"]


class Via(models.TextChoices):
    """The way by which a change came in."""

    API = "api", _("API")
    ADMIN = "admin", _("admin")
    CONSOLE = "console", _("console")
    COMMAND = "command", _("command")
    TASK = "task", _("task")
    IMPORT = "import", _("import")


class Action(models.TextChoices):
    CREATE = "create", _("created")
    UPDATE = "update", _("updated")
    DELETE = "delete", _("deleted")


class Change(models.Model):
    """One creation, update or deletion of a row. Written in the same transaction, and never changed."""

    at = models.DateTimeField(_("at"), default=timezone.now)
    actor = models.CharField(_("actor"), max_length=150)
    via = models.CharField(_("via"), max_length=10, choices=Via.choices)
    action = models.CharField(_("action"), max_length=10, choices=Action.choices)
    kind = models.CharField(_("kind"), max_length=30)
    key = models.CharField(_("key"), max_length=255)
    before = models.JSONField(
        _("before"), null=True, encoder=DjangoJSONEncoder, help_text=_("What was changed, as it was.")
    )
    after = models.JSONField(
        _("after"), null=True, encoder=DjangoJSONEncoder, help_text=_("What was changed, as it is now.")
    )
    request_id = models.CharField(_("request id"), max_length=128, blank=True)
    message = models.TextField(_("message"), blank=True)

    class Meta:
        verbose_name = _("change")
        verbose_name_plural = _("changes")
        ordering = ["-id"]
        indexes = [
            models.Index(fields=["kind", "key", "-id"], name="change_of_what"),
            models.Index(fields=["actor", "-id"], name="change_by_whom"),
            models.Index(fields=["at"], name="change_when"),
            models.Index(fields=["request_id"], name="change_by_which_request", condition=~models.Q(request_id="")),
        ]
        constraints = [
            one_of("via", Via, name="change_via_known"),
            models.CheckConstraint(
                condition=models.Q(action=Action.CREATE, before__isnull=True, after__isnull=False)
                | models.Q(action=Action.UPDATE, before__isnull=False, after__isnull=False)
                | models.Q(action=Action.DELETE, before__isnull=False, after__isnull=True),
                name="change_shape",
                violation_error_message=_("A creation has no before, a deletion no after, an update both."),
            ),
        ]

    def __str__(self) -> str:
        return f"{self.actor} {self.get_action_display()} {self.kind} {self.key}"


class Recorded(models.Model):
    """Base of the models whose every change is recorded in the history and the feed (see `audit.writing`)."""

    audit_kind: ClassVar[str]
    feed_topic: ClassVar[Topic]
    unrecorded: ClassVar[frozenset[str]] = frozenset()
    """Fields that the history leaves out: secrets, and values that change by themselves."""
    confidential: ClassVar[bool] = False
    """Whether only administrators may see the history of these rows."""

    class Meta:
        abstract = True

    @property
    def audit_key(self) -> str:
        """The row's name for people: its code, or else its primary key."""
        code: Any = getattr(self, "code", None)
        return str(self.pk if code is None else code)
