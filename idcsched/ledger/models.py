from typing import Any

from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from idcsched.accounts.models import Tenant
from idcsched.db.deleting import protect_by
from idcsched.db.fields import AmountField, between, one_of, unique
from idcsched.inventory.models import Idc, Line

__all__ = ["Claim", "Headcount", "Holding", "Resource"]


class Resource(models.TextChoices):
    """What can be taken: a line's bandwidth, or an IDC's stock."""

    BANDWIDTH_MBPS = "bandwidth_mbps", _("bandwidth (Mbps)")
    CPU = "cpu", _("CPU cores")
    MEMORY_GIB = "memory_gib", _("memory (GiB)")
    DISK_GIB = "disk_gib", _("disk (GiB)")
    GPU = "gpu", _("GPUs")


class Holding(models.Model):
    """How much is taken of a line's bandwidth or an IDC's stock: the row that every order which takes some must lock.

    `taken` is what still counts (of a line: what monitoring can't fully see yet), `ordered` the sum over all
    live orders, without fading. Until `kept_until`, the amount `kept` is for waiting orders: a new order whose priority
    is not above `kept_for` may not take it.
    """

    idc = models.ForeignKey(Idc, models.PROTECT, verbose_name=_("IDC"), related_name="holdings")
    line = models.ForeignKey(
        Line,
        models.PROTECT,
        verbose_name=_("line"),
        null=True,
        blank=True,
        related_name="holdings",
        db_index=False,  # its unique constraint is an index
    )
    resource = models.CharField(_("resource"), max_length=20, choices=Resource.choices)
    taken = AmountField(_("taken"), default=0.0)
    ordered = AmountField(_("ordered"), default=0.0)
    kept = AmountField(_("kept free"), default=0.0, db_default=0.0)
    kept_for = models.IntegerField(_("kept for priority"), null=True, blank=True)
    kept_until = models.DateTimeField(_("kept until"), null=True, blank=True)

    class Meta:
        verbose_name = _("holding")
        verbose_name_plural = _("holdings")
        ordering = ["idc", "resource", "line"]
        constraints = [
            unique("line", name="holding_line_unique"),
            unique("idc", "resource", where=Q(line__isnull=True), name="holding_stock_unique"),
            models.CheckConstraint(
                condition=Q(resource=Resource.BANDWIDTH_MBPS, line__isnull=False)
                | (~Q(resource=Resource.BANDWIDTH_MBPS) & Q(line__isnull=True)),
                name="holding_line_for_bandwidth",
                violation_error_message=_("Bandwidth is taken of a line, everything else of the IDC."),
            ),
            one_of("resource", Resource, name="holding_resource_known"),
            between("taken", 0, name="holding_taken_range"),
            between("ordered", 0, name="holding_ordered_range"),
            between("kept", 0, name="holding_kept_range"),
            models.CheckConstraint(
                condition=Q(kept=0) | Q(kept_for__isnull=False, kept_until__isnull=False),
                name="holding_kept_for_somebody",
                violation_error_message=_("What is kept free is kept for somebody, and not for ever."),
            ),
        ]
        indexes = [
            models.Index(fields=["kept_until"], name="holding_kept", condition=Q(kept__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.line or self.idc.code} {self.resource}"


class Claim(models.Model):
    """What one placement took of one holding, and the proof that the capacity was there.

    `taken_after` is the holding's `taken` right after this claim, as returned by the statement that raised it;
    `ceiling` is the limit known at that time (None: no limit). A ceiling that falls later invalidates no claim.
    """

    placement = models.UUIDField(_("placement"))
    holding = models.ForeignKey(Holding, models.PROTECT, verbose_name=_("holding"), related_name="claims")
    amount = AmountField(_("amount"))
    remaining = AmountField(_("remaining"), help_text=_("What still counts; fades once monitoring sees the use."))
    taken_after = AmountField(_("taken after it"))
    ceiling = models.FloatField(_("ceiling"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now)
    fading_since = models.DateTimeField(_("fading since"), null=True, blank=True)
    released_at = models.DateTimeField(_("released"), null=True, blank=True)

    class Meta:
        verbose_name = _("claim")
        verbose_name_plural = _("claims")
        ordering = ["id"]
        constraints = [
            unique(
                "placement",
                "holding",
                where=Q(released_at__isnull=True),
                name="claim_unique",
                message=_("The placement has a claim on this already."),
            ),
            models.CheckConstraint(
                condition=Q(amount__gt=0),
                name="claim_amount_positive",
                violation_error_message=_("A claim is about more than nothing."),
            ),
            models.CheckConstraint(
                condition=Q(remaining__gte=0, remaining__lte=F("amount")),
                name="claim_remaining_range",
                violation_error_message=_("What remains of a claim lies between nothing and all of it."),
            ),
            models.CheckConstraint(
                condition=Q(released_at__isnull=True) | Q(remaining=0),
                name="claim_released_whole",
                violation_error_message=_("Nothing remains of a released claim."),
            ),
            models.CheckConstraint(
                condition=Q(ceiling__isnull=True) | Q(taken_after__lte=F("ceiling")),
                name="claim_within_ceiling",
                violation_error_code="oversold",
                violation_error_message=_("No claim may go beyond what there is."),
            ),
        ]
        indexes = [
            models.Index(fields=["fading_since"], name="claim_fading", condition=Q(remaining__gt=0)),
        ]

    def __str__(self) -> str:
        return f"{self.placement} {self.amount:g} {self.holding.resource}"


def machines_protect(collector: Any, field: Any, rows: models.QuerySet[Any], using: str) -> None:
    """Refuse to delete a tenant with machines; counts of none are deleted with the tenant."""
    protect_by(Q(machines__gt=0), collector, field, rows, using)


class Headcount(models.Model):
    """How many machines a tenant has in an IDC for one of its businesses."""

    idc = models.ForeignKey(Idc, models.PROTECT, verbose_name=_("IDC"), related_name="headcounts")
    tenant = models.ForeignKey(Tenant, machines_protect, verbose_name=_("tenant"), related_name="headcounts")
    business = models.CharField(_("business"), max_length=256, blank=True)
    machines = models.PositiveIntegerField(_("machines"), default=0)

    class Meta:
        verbose_name = _("headcount")
        verbose_name_plural = _("headcounts")
        ordering = ["idc", "tenant", "business"]
        constraints = [unique("idc", "tenant", "business", name="headcount_unique")]

    def __str__(self) -> str:
        return f"{self.tenant.code} {self.business} {self.idc.code}: {self.machines}"
