"""Profiles with their revisions, and the records of decisions."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from django.core.exceptions import ValidationError
from django.db import models
from django.utils.translation import gettext_lazy as _
from uuid_utils.compat import uuid7

from idcsched.accounts.models import Tenant
from idcsched.audit.models import Recorded
from idcsched.db.fields import CodeField, DocumentField, WholeDocumentField, unique
from idcsched.feed.models import Topic
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Invalid
from idcsched.framework.request import Shape as ShapeNumbers
from idcsched.framework.request import check_shape
from idcsched.language.wording import explained
from metrics_ingest.billing.shape_evidence import Verdict

if TYPE_CHECKING:  # outcomes are rows of these models
    from .outcomes import NotedIdc

__all__ = [
    "Decision",
    "IdcOutcome",
    "Profile",
    "ProfileRevision",
    "Shape",
    "ShapeSource",
    "ShapeVerdict",
    "shape_numbers",
]


class ProfilesInForce(models.Manager["Profile"]):
    """Manager of the profiles that are not deleted."""

    def get_queryset(self) -> models.QuerySet["Profile"]:
        return super().get_queryset().filter(active__isnull=False)


class Profile(models.Model):
    """A named policy. Its content stands in its revisions, of which one is in force.

    A deleted profile has no revision in force. Its revisions stay for the decisions that name them.
    """

    code = CodeField(_("code"), unique=True)
    name = models.CharField(_("name"), max_length=200, blank=True)
    active = models.OneToOneField(
        "ProfileRevision",
        models.PROTECT,
        null=True,
        blank=True,
        related_name="active_of",
        verbose_name=_("active revision"),
    )
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)

    objects = ProfilesInForce()
    with_deleted = models.Manager["Profile"]()

    class Meta:
        ordering = ("code",)
        verbose_name = _("profile")
        verbose_name_plural = _("profiles")

    def __str__(self) -> str:
        return self.code


class ProfileRevision(models.Model):
    """One state of a profile. Never changed once written: decisions name it."""

    profile = models.ForeignKey(Profile, models.CASCADE, related_name="revisions", verbose_name=_("profile"))
    number = models.PositiveIntegerField(_("number"))
    body = models.JSONField(_("body"))
    message = models.CharField(_("message"), max_length=500, blank=True)
    created_at = models.DateTimeField(_("created at"), auto_now_add=True)
    created_by = models.CharField(_("created by"), max_length=150, blank=True)

    class Meta:
        ordering = ("profile", "-number")
        verbose_name = _("profile revision")
        verbose_name_plural = _("profile revisions")
        constraints = (
            models.UniqueConstraint(fields=("profile", "number"), name="scheduling_revision_number_once"),
            models.CheckConstraint(condition=models.Q(number__gte=1), name="scheduling_revision_number_from_1"),
        )

    def __str__(self) -> str:
        return f"{self.profile.code}#{self.number}"


def shape_numbers(value: object) -> None:
    """Refuse what is no shape of a day or of a week."""
    try:
        check_shape(convert(value, ShapeNumbers))
    except Invalid as error:
        raise ValidationError(explained(error), code=error.code) from error


class ShapeVerdict(models.TextChoices):
    """Whether what was learnt of a business is trusted, or else why not."""

    TRUSTED = Verdict.TRUSTED.value, _("trusted")
    UNCHANGED = Verdict.UNCHANGED.value, _("what is ordered did not change while its lines were measured")
    TOO_SHORT = Verdict.TOO_SHORT.value, _("less than two weeks of traffic")
    FEW_LINES = Verdict.FEW_LINES.value, _("orders came and went on fewer than three lines")
    UNCERTAIN = Verdict.UNCERTAIN.value, _("too uncertain: too few changes, always along with others, or perhaps mixed")
    MIXED = Verdict.MIXED.value, _("mixed: the shapes of single orders differ too much")


class ShapeSource(models.TextChoices):
    ENTERED = "entered", _("entered")
    LEARNT = "learnt", _("learnt")


class Shapes(models.Manager["Shape"]):
    """Manager that marks as `overruled` the tenants' shapes of which an operator has entered one of all tenants."""

    def get_queryset(self) -> models.QuerySet["Shape"]:
        shapes: models.QuerySet[Shape] = models.QuerySet(Shape)
        entered = shapes.filter(tenant__isnull=True, business=models.OuterRef("business"), entered__isnull=False)
        overruled = models.Q(models.Exists(entered), tenant__isnull=False)
        return super().get_queryset().annotate(overruled=models.ExpressionWrapper(overruled, models.BooleanField()))


class Shape(Recorded):
    """How the traffic of a business is spread over a day or a week: what an operator has entered, and what was learnt.

    `learnt` is the last shape that was trusted, and the other columns in `learnt_` what it rests on; `verdict` and the
    columns in `tried_` are about the last attempt to learn it, whether its result was trusted or not.
    """

    audit_kind = "shape"
    feed_topic = Topic.SHAPES
    unrecorded = frozenset(
        {
            *("learnt", "learnt_at", "learnt_days", "learnt_lines", "learnt_error", "learnt_use"),
            *("verdict", "tried_at", "tried_days", "tried_lines", "tried_error"),
        }
    )

    tenant = models.ForeignKey(
        Tenant,
        models.PROTECT,
        null=True,
        blank=True,
        related_name="shapes",
        verbose_name=_("tenant"),
        help_text=_("Whose business it is; empty: that of all tenants of which no shape of their own is known."),
    )
    business = models.CharField(
        _("business"), max_length=256, help_text=_("The label `business` of the orders that it is about.")
    )
    entered = DocumentField(
        _("traffic by the hour"),
        null=True,
        blank=True,
        validators=[shape_numbers],
        help_text=_(
            "24 numbers for the hours of a day, or 168 for those of a week from Monday on, in the billing zone; on any "
            "scale, the largest stands for the busiest hour."
        ),
    )
    created_at = models.DateTimeField(_("created"), auto_now_add=True)
    learnt = models.JSONField(_("learnt shape"), null=True, editable=False)
    learnt_at = models.DateTimeField(_("learnt"), null=True, editable=False)
    learnt_days = models.FloatField(_("days it rests on"), null=True, editable=False)
    learnt_lines = models.FloatField(_("lines it rests on"), null=True, editable=False)
    learnt_error = models.FloatField(_("error"), null=True, editable=False)
    learnt_use = models.FloatField(_("Mbps at the peak per ordered Mbps"), null=True, editable=False)
    verdict = models.CharField(
        _("verdict of the last attempt"),
        max_length=10,
        choices=ShapeVerdict.choices,
        blank=True,
        default="",
        db_default="",
        editable=False,
    )
    tried_at = models.DateTimeField(_("last attempt"), null=True, editable=False)
    tried_days = models.FloatField(_("days of the last attempt"), null=True, editable=False)
    tried_lines = models.FloatField(_("lines of the last attempt"), null=True, editable=False)
    tried_error = models.FloatField(_("error of the last attempt"), null=True, editable=False)

    objects = Shapes()

    class Meta:
        ordering = ("business", "id")
        verbose_name = _("traffic shape")
        verbose_name_plural = _("traffic shapes")
        constraints = (
            unique(
                "tenant",
                "business",
                name="scheduling_shape_once",
                message=_("There is a shape of this tenant's business already."),
            ),
            unique(
                "business",
                where=models.Q(tenant__isnull=True),
                name="scheduling_shape_of_all_tenants_once",
                message=_("There is a shape of this business of all tenants already."),
            ),
            models.CheckConstraint(
                condition=models.Q(verdict="") | models.Q(verdict__in=ShapeVerdict.values),
                name="scheduling_shape_verdict_known",
            ),
        )

    def __str__(self) -> str:
        return f"{self.tenant.code}/{self.business}" if self.tenant else self.business

    @property
    def in_force(self) -> ShapeSource | None:
        """Return which of the row's two shapes its orders are priced by, if any."""
        if self.entered is not None:
            return ShapeSource.ENTERED
        overruled = getattr(self, "overruled", False)  # a row that was not read by the manager is a new one
        return ShapeSource.LEARNT if self.learnt is not None and not overruled else None


class Picture(models.Model):
    """The part of a snapshot that decisions used, or the lines' history in it, packed.

    Its id is a hash of the content and the day.
    """

    id = models.UUIDField(primary_key=True, editable=False)
    created_at = models.DateTimeField(_("created"), db_index=True)
    data = models.BinaryField(_("data"))

    class Meta:
        verbose_name = _("picture")
        verbose_name_plural = _("pictures")

    def __str__(self) -> str:
        return str(self.id)


class Decision(models.Model):
    """The record of an answer, as it was given. Never changed; expires."""

    class Result(models.TextChoices):
        SCHEDULED = "scheduled", _("scheduled")
        UNSCHEDULABLE = "unschedulable", _("unschedulable")

    noted: Sequence["NotedIdc"] = ()
    """What became of its IDCs, of a row that is not stored yet."""

    id = models.UUIDField(primary_key=True, default=uuid7, editable=False)
    created_at = models.DateTimeField(_("decided at"), db_index=True)
    tenant = models.ForeignKey(
        Tenant, models.SET_NULL, null=True, blank=True, related_name="+", verbose_name=_("tenant")
    )
    tenant_code = models.CharField(
        _("tenant's code"), max_length=63, blank=True, help_text=_("As it was then, also of one that is gone.")
    )
    actor = models.CharField(_("asked by"), max_length=150, blank=True)
    request_id = models.CharField(_("request id"), max_length=255, blank=True)
    http_request_id = models.CharField(_("HTTP request id"), max_length=128, blank=True)
    result = models.CharField(_("result"), max_length=16, choices=Result)
    reason_code = models.CharField(_("reason"), max_length=32, blank=True)
    idc = models.CharField(_("IDC"), max_length=63, blank=True)
    profile = models.CharField(_("profile"), max_length=63)
    profile_revision = models.PositiveIntegerField(_("profile revision"))
    request = models.JSONField(_("request"))
    answer = WholeDocumentField(_("answer"))
    sentences = WholeDocumentField(
        _("sentences"), default=dict, help_text=_("What each English sentence of the answer was made of.")
    )
    placement = models.UUIDField(
        _("placement"), null=True, blank=True, help_text=_("What it became; its record is kept for longer then.")
    )
    taken = models.JSONField(
        _("taken"), null=True, blank=True, help_text=_("The candidate that was taken, its rank, and why not the first.")
    )
    inputs = models.BinaryField(_("inputs"), null=True, help_text=_("What it was decided on, packed; empty: not kept."))
    picture = models.ForeignKey(
        Picture,
        models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="decisions",
        verbose_name=_("picture"),
        help_text=_("What it saw of the world, where that is not among the inputs."),
    )
    history = models.ForeignKey(
        Picture,
        models.PROTECT,
        null=True,
        blank=True,
        editable=False,
        related_name="decisions_by_history",
        verbose_name=_("history"),
        help_text=_("What the lines that it saw had carried in the last 30 days, where that was loaded."),
    )

    class Meta:
        ordering = ("-id",)
        verbose_name = _("decision")
        verbose_name_plural = _("decisions")
        constraints = (
            models.CheckConstraint(
                condition=models.Q(result="scheduled", idc__gt="") | models.Q(result="unschedulable", idc=""),
                name="scheduling_decision_idc_iff_scheduled",
            ),
        )
        indexes = (  # `db_index` would make a second one, for prefixes, which no query needs
            models.Index(fields=["request_id"], name="decision_by_request", condition=~models.Q(request_id="")),
            models.Index(fields=["idc"], name="decision_of_idc"),
        )

    def __str__(self) -> str:
        return str(self.id)


class IdcOutcome(models.Model):
    """What became of one IDC in a decision: chosen, passed over with its rank, or rejected with the first reason.

    Written with the record, and deleted with it; records that are older than this table have none.
    """

    pk = models.CompositePrimaryKey("decision_id", "idc")
    decision = models.ForeignKey(
        Decision,
        models.CASCADE,
        related_name="outcomes",
        db_constraint=False,  # checking it costs more than the row, which nothing else writes
        db_index=False,
        verbose_name=_("decision"),
    )
    idc = models.CharField(_("IDC"), max_length=63)
    chosen = models.BooleanField(_("chosen"))
    rank = models.PositiveIntegerField(_("rank"), null=True)
    plugin = models.CharField(_("plugin"), max_length=63, blank=True)
    code = models.CharField(_("reason"), max_length=63, blank=True)
    billed = models.FloatField(_("added to the bill per month"), null=True)

    class Meta:
        verbose_name = _("outcome of an IDC")
        verbose_name_plural = _("outcomes of IDCs")
        indexes = (models.Index(fields=["idc", "decision"], name="outcome_of_idc"),)

    def __str__(self) -> str:
        return f"{self.idc} in {self.decision_id}"
