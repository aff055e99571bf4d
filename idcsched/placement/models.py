"""The models of placements, their events, callbacks, attempts and machines."""

from django.db import models
from django.db.models import Q
from django.db.models.fields.json import KeyTextTransform
from django.db.models.functions import Cast
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from idcsched.accounts.models import Tenant
from idcsched.db.fields import AmountField, CodeField, one_of, unique
from idcsched.inventory.models import Idc
from idcsched.jobs.models import Claimable

from .lifecycle import HOLDING, Action, Move, State
from .provider_models import Provider, SimulatedMachine

__all__ = [
    "Attempt",
    "AttemptState",
    "Delivery",
    "DeliveryState",
    "Event",
    "Machine",
    "MachineState",
    "Placement",
    "Provider",
    "SimulatedMachine",
]


class Placement(models.Model):
    """An order that holds capacity, or waits for it. Written by this package's services alone.

    `based_on` names the recommendation that the placement was committed from, `replaces` the placement whose machines
    move here: it is released when this one is confirmed; `held_back` says why a permit keeps it
    reserved. `bill` is what the order adds to the bandwidth bill of a month, as it was decided, or the code of the
    reason why that is not known; `bill_per_month` is the amount alone, to filter and sum by. `awaits`: the IDCs that
    would fit a waiting order if they had more room; `lacks`: where it lacked the least when it was last tried, the code
    of that rejection and its figures.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    tenant = models.ForeignKey(  # another index begins with this column, as with all foreign keys without an index
        Tenant, models.PROTECT, related_name="placements", verbose_name=_("tenant"), db_index=False
    )
    actor = models.CharField(_("asked by"), max_length=150, blank=True)
    request_id = models.CharField(_("request id"), max_length=255, blank=True)
    action = models.CharField(_("action"), max_length=10, choices=Action.choices)
    request = models.JSONField(_("request"))
    state = models.CharField(_("state"), max_length=12, choices=State.choices)
    version = models.PositiveIntegerField(_("version"), default=1)
    idc = models.ForeignKey(
        Idc,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="placements",
        verbose_name=_("IDC"),
        db_index=False,
    )
    lines = models.JSONField(_("lines"), default=list, blank=True)
    bill = models.JSONField(_("added to the bill"), null=True, blank=True)
    bill_per_month = models.GeneratedField(
        expression=Cast(KeyTextTransform("per_month", "bill"), models.FloatField()),
        output_field=models.FloatField(),
        db_persist=True,
        verbose_name=_("added to the bill per month"),
    )
    business = models.CharField(_("business"), max_length=256, blank=True)
    machine_count = models.PositiveIntegerField(_("machines"), default=0)
    bandwidth_mbps = AmountField(_("bandwidth (Mbps)"), default=0.0)
    group_id = models.UUIDField(_("group"), null=True, blank=True)
    decision_id = models.UUIDField(_("decision"))
    based_on = models.UUIDField(_("recommendation"), null=True, blank=True)
    replaces = models.ForeignKey(
        "self",
        models.SET_NULL,
        null=True,
        blank=True,
        related_name="replacements",
        verbose_name=_("takes the place of"),
    )
    priority = models.IntegerField(_("priority"), default=0)
    ttl_seconds = models.PositiveIntegerField(_("time to live (s)"), default=600)
    expires_at = models.DateTimeField(_("expires"), null=True, blank=True)
    held_back = models.CharField(_("held back"), max_length=500, blank=True)
    cures = models.JSONField(_("what may help"), default=list, blank=True)
    lacks = models.JSONField(_("lacks the least"), null=True, blank=True)
    awaits = models.ManyToManyField(Idc, related_name="awaited_by", blank=True, verbose_name=_("lacks room in"))
    tried_at = models.DateTimeField(_("last try"), null=True, blank=True)
    next_try_at = models.DateTimeField(_("next try"), null=True, blank=True)
    needs_attention = models.BooleanField(_("needs attention"), default=False)
    callback_url = models.CharField(_("callback"), max_length=2000, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    changed_at = models.DateTimeField(_("changed"), default=timezone.now)

    class Meta:
        ordering = ("-id",)
        verbose_name = _("placement")
        verbose_name_plural = _("placements")
        constraints = (
            one_of("state", State, name="placement_state_known"),
            one_of("action", Action, name="placement_action_known"),
            unique("based_on", name="placement_committed_once"),
            models.CheckConstraint(
                condition=~Q(state__in=sorted(HOLDING)) | Q(idc__isnull=False),
                name="placement_that_holds_stands_somewhere",
                violation_error_message=_("What holds capacity holds it in an IDC."),
            ),
            models.CheckConstraint(
                condition=~Q(state__in=[State.RESERVED, State.WAITING]) | Q(expires_at__isnull=False),
                name="placement_reserved_or_waiting_ends",
                violation_error_message=_("A reservation ends some time, and so does waiting."),
            ),
        )
        indexes = (
            models.Index(fields=["tenant", "state", "-id"], name="placement_of_tenant"),
            models.Index(fields=["idc", "state"], name="placement_in_idc"),
            models.Index(
                fields=["expires_at"],
                name="placement_expiring",
                condition=Q(state__in=[State.RESERVED, State.WAITING]),
            ),
            models.Index(
                fields=["-priority", "created_at"], name="placement_waiting", condition=Q(state=State.WAITING)
            ),
            models.Index(fields=["state"], name="placement_attention", condition=Q(needs_attention=True)),
            models.Index(fields=["request_id"], name="placement_by_request", condition=~Q(request_id="")),
            models.Index(fields=["group_id"], name="placement_in_group", condition=Q(group_id__isnull=False)),
        )

    def __str__(self) -> str:
        return str(self.id)


class Event(models.Model):
    """One move of a placement. Written with the move itself, and never changed."""

    placement = models.ForeignKey(
        Placement, models.CASCADE, related_name="events", verbose_name=_("placement"), db_index=False
    )
    version = models.PositiveIntegerField(_("version"))
    at = models.DateTimeField(_("at"), default=timezone.now)
    move = models.CharField(_("move"), max_length=10, choices=Move.choices)
    state = models.CharField(_("state"), max_length=12, choices=State.choices)
    actor = models.CharField(_("actor"), max_length=150, blank=True)
    detail = models.JSONField(_("detail"), default=dict, blank=True)

    class Meta:
        ordering = ("placement", "version")
        verbose_name = _("event")
        verbose_name_plural = _("events")
        constraints = (unique("placement", "version", name="event_version_once"),)
        indexes = (models.Index(fields=["at"], name="event_when"),)

    def __str__(self) -> str:
        return f"{self.placement_id} {self.version} {self.state}"


class DeliveryState(models.TextChoices):
    PENDING = "pending", _("to be sent")
    DELIVERED = "delivered", _("delivered")
    GIVEN_UP = "given_up", _("given up")


class Delivery(Claimable):
    """A callback: one event to be sent to the placement's address, written with the event, sent until it is received.

    The row's id is the id of the message. `queued_at`: when the first try was due; `claimed_until`: the end of a
    worker's claim.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    placement = models.ForeignKey(
        Placement, models.CASCADE, related_name="deliveries", verbose_name=_("placement"), db_index=False
    )
    version = models.PositiveIntegerField(_("version"))
    kind = models.CharField(_("type"), max_length=40)
    url = models.CharField(_("address"), max_length=2000)
    host = models.CharField(_("host"), max_length=255, db_default="", editable=False)
    payload = models.TextField(_("payload"))
    state = models.CharField(_("state"), max_length=9, choices=DeliveryState.choices, default=DeliveryState.PENDING)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    queued_at = models.DateTimeField(_("tried since"), default=timezone.now)
    tries = models.PositiveIntegerField(_("tries"), default=0)
    tried_at = models.DateTimeField(_("last try"), null=True, blank=True)
    next_try_at = models.DateTimeField(_("next try"), default=timezone.now)
    delivered_at = models.DateTimeField(_("delivered"), null=True, blank=True)
    error = models.TextField(_("error"), blank=True)

    class Meta:
        ordering = ("-id",)
        verbose_name = _("callback")
        verbose_name_plural = _("callbacks")
        constraints = (
            unique("placement", "version", name="delivery_of_event_once"),
            one_of("state", DeliveryState, name="delivery_state_known"),
            models.CheckConstraint(
                condition=~Q(state=DeliveryState.DELIVERED) | Q(delivered_at__isnull=False),
                name="delivery_delivered_some_time",
                violation_error_message=_("What is delivered was delivered at some time."),
            ),
        )
        indexes = (
            models.Index(fields=["next_try_at"], name="delivery_due", condition=Q(state=DeliveryState.PENDING)),
            models.Index(fields=["state", "-id"], name="delivery_in_state"),
        )

    def __str__(self) -> str:
        return str(self.id)


class AttemptState(models.TextChoices):
    TRYING = "trying", _("trying")
    ACTIVE = "active", _("active")
    FAILED = "failed", _("failed")


class MachineState(models.TextChoices):
    PENDING = "pending", _("pending")
    CREATING = "creating", _("creating")
    ACTIVE = "active", _("active")
    FAILED = "failed", _("failed")
    DELETING = "deleting", _("deleting")
    DELETED = "deleted", _("deleted")
    GIVEN_UP = "given_up", _("given up")


class Attempt(models.Model):
    """One attempt to start a placement's machines in one IDC."""

    placement = models.ForeignKey(Placement, models.CASCADE, related_name="attempts", verbose_name=_("placement"))
    number = models.PositiveIntegerField(_("number"))
    idc = models.ForeignKey(Idc, models.PROTECT, related_name="+", verbose_name=_("IDC"))
    state = models.CharField(_("state"), max_length=8, choices=AttemptState.choices, default=AttemptState.TRYING)
    error = models.TextField(_("error"), blank=True)
    decision_id = models.UUIDField(_("decision"))
    started_at = models.DateTimeField(_("started"), default=timezone.now)
    ended_at = models.DateTimeField(_("ended"), null=True, blank=True)

    class Meta:
        ordering = ("placement", "number")
        verbose_name = _("attempt")
        verbose_name_plural = _("attempts")
        constraints = (
            unique("placement", "number", name="attempt_number_once"),
            one_of("state", AttemptState, name="attempt_state_known"),
        )

    def __str__(self) -> str:
        return f"{self.placement_id} {self.number}"


class Machine(Claimable):
    """One machine of an attempt. The row's id is the token by which the provider finds the machine.

    `claimed_until`: the end of a worker's claim; `next_try_at`: when the next turn is due (None: never);
    `announced_until`: until when a message about the machine may still be under way.
    `tries` counts failures in a row, `lives` created machines that failed; `since`: when the state began.
    """

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    attempt = models.ForeignKey(Attempt, models.CASCADE, related_name="machines", verbose_name=_("attempt"))
    number = models.PositiveIntegerField(_("number"))
    name = models.CharField(_("name"), max_length=255)
    shape = models.JSONField(_("shape"))
    state = models.CharField(_("state"), max_length=8, choices=MachineState.choices, default=MachineState.PENDING)
    provider = CodeField(_("provider"), blank=True)
    provider_id = models.CharField(_("id at the provider"), max_length=255, blank=True)
    addresses = models.JSONField(_("addresses"), default=list, blank=True)
    error = models.TextField(_("error"), blank=True)
    tries = models.PositiveIntegerField(_("tries"), default=0)
    lives = models.PositiveIntegerField(_("lives"), default=0)
    since = models.DateTimeField(_("since"), default=timezone.now)
    next_try_at = models.DateTimeField(_("next try"), default=timezone.now, null=True, blank=True)
    announced_until = models.DateTimeField(_("announced until"), null=True, blank=True, editable=False)
    created_at = models.DateTimeField(_("created"), default=timezone.now)

    class Meta:
        ordering = ("attempt", "number")
        verbose_name = _("machine")
        verbose_name_plural = _("machines")
        constraints = (
            unique("attempt", "number", name="machine_number_once"),
            one_of("state", MachineState, name="machine_state_known"),
        )
        indexes = (
            models.Index(fields=["next_try_at"], name="machine_to_look_at", condition=Q(next_try_at__isnull=False)),
            models.Index(fields=["provider", "state"], name="machine_of_provider"),
        )

    def __str__(self) -> str:
        return f"{self.name} ({self.state})"
