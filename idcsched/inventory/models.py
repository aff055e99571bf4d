from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models import F, Q
from django.utils import timezone
from django.utils.translation import gettext_lazy as _

from idcsched.audit.models import Recorded
from idcsched.db.fields import AmountField, CodeField, DocumentField, NumberField, between, one_of, unique
from idcsched.db.names import code_and_name
from idcsched.feed.models import Topic

from .checks import alias_list, label_map, selector_document, taint_key
from .choices import AffinityKind, ChargeType, Effect, Status, Tier

__all__ = ["STOCK_FIELDS", "Affinity", "Idc", "Isp", "Line", "Region", "RegionScope", "Taint"]

STOCK_FIELDS = ("stock_cpu", "stock_memory_gib", "stock_disk_gib", "stock_gpu")


def coordinates(prefix: str) -> list[models.BaseConstraint]:
    """Return the constraints of latitude and longitude: both or neither, and within their ranges."""
    return [
        between("latitude", -90, 90, name=f"{prefix}_latitude_range"),
        between("longitude", -180, 180, name=f"{prefix}_longitude_range"),
        models.CheckConstraint(
            condition=Q(latitude__isnull=True, longitude__isnull=True)
            | Q(latitude__isnull=False, longitude__isnull=False),
            name=f"{prefix}_coordinates_both",
            violation_error_code="coordinates_incomplete",
            violation_error_message=_("Latitude and longitude go together: both or neither."),
        ),
    ]


def window(prefix: str) -> models.CheckConstraint:
    """Return the constraint that a window's end is after its start, if it has both."""
    return models.CheckConstraint(
        condition=Q(ends_at__isnull=True) | Q(starts_at__isnull=True) | Q(ends_at__gt=F("starts_at")),
        name=f"{prefix}_window_order",
        violation_error_code="window_order",
        violation_error_message=_("The end must be after the start."),
    )


class Located(models.Model):
    """A row that may have coordinates."""

    latitude = NumberField(
        _("latitude"), null=True, blank=True, validators=[MinValueValidator(-90), MaxValueValidator(90)]
    )
    longitude = NumberField(
        _("longitude"), null=True, blank=True, validators=[MinValueValidator(-180), MaxValueValidator(180)]
    )

    class Meta:
        abstract = True


class Region(Located, Recorded):
    """A scheduling area. A request for a region takes in its sub-regions."""

    audit_kind = "region"
    feed_topic = Topic.INVENTORY

    code = CodeField(_("code"))
    name = models.CharField(_("name"), max_length=200, blank=True)
    parent = models.ForeignKey(
        "self", models.PROTECT, verbose_name=_("parent"), null=True, blank=True, related_name="children"
    )
    labels = DocumentField(_("labels"), default=dict, blank=True, validators=[label_map])

    class Meta:
        verbose_name = _("region")
        verbose_name_plural = _("regions")
        ordering = ["code"]
        constraints = [
            unique("code", name="region_code_unique"),
            models.CheckConstraint(
                condition=Q(parent__isnull=True) | ~Q(parent=F("id")),
                name="region_not_its_own_parent",
                violation_error_code="region_cycle",
                violation_error_message=_("A region can't be its own parent."),
            ),
            *coordinates("region"),
        ]

    def __str__(self) -> str:
        return code_and_name(self.code, self.name)


class Isp(Recorded):
    """A carrier. Its aliases are the other names by which portals and collectors refer to it."""

    audit_kind = "isp"
    feed_topic = Topic.INVENTORY

    code = CodeField(_("code"))
    name = models.CharField(_("name"), max_length=200, blank=True)
    aliases = DocumentField(_("aliases"), default=list, blank=True, validators=[alias_list])

    class Meta:
        verbose_name = _("ISP")
        verbose_name_plural = _("ISPs")
        ordering = ["code"]
        constraints = [unique("code", name="isp_code_unique")]

    def __str__(self) -> str:
        return code_and_name(self.code, self.name)


class Idc(Located, Recorded):
    """A data centre: a candidate for machines. Stock that is not given is unlimited."""

    audit_kind = "idc"
    feed_topic = Topic.INVENTORY

    code = CodeField(_("code"))
    name = models.CharField(_("name"), max_length=200, blank=True)
    region = models.ForeignKey(Region, models.PROTECT, verbose_name=_("region"), related_name="idcs")
    tier = models.CharField(_("tier"), max_length=10, choices=Tier.choices, default=Tier.EDGE)
    status = models.CharField(_("status"), max_length=10, choices=Status.choices, default=Status.ONLINE)
    partition = models.CharField(_("partition"), max_length=63, blank=True)
    labels = DocumentField(_("labels"), default=dict, blank=True, validators=[label_map])
    provider = CodeField(_("provider"), blank=True, help_text=_("Code of the provider that starts machines here."))
    stock_cpu = AmountField(_("CPU cores for sale"), null=True, blank=True)
    stock_memory_gib = AmountField(_("memory for sale (GiB)"), null=True, blank=True)
    stock_disk_gib = AmountField(_("disk for sale (GiB)"), null=True, blank=True)
    stock_gpu = AmountField(_("GPUs for sale"), null=True, blank=True)

    class Meta:
        verbose_name = _("IDC")
        verbose_name_plural = _("IDCs")
        ordering = ["code"]
        constraints = [
            unique("code", name="idc_code_unique"),
            one_of("tier", Tier, name="idc_tier_known"),
            one_of("status", Status, name="idc_status_known"),
            *(between(field, 0, name=f"idc_{field}_range") for field in STOCK_FIELDS),
            *coordinates("idc"),
        ]
        indexes = [
            models.Index(fields=["status"], name="idc_by_status"),
            models.Index(fields=["tier"], name="idc_by_tier"),
            models.Index(fields=["partition"], name="idc_by_partition"),
            models.Index(fields=["provider"], name="idc_by_provider"),
        ]

    def __str__(self) -> str:
        return code_and_name(self.code, self.name)


class Line(Recorded):
    """One uplink of an IDC."""

    audit_kind = "line"
    feed_topic = Topic.INVENTORY

    idc = models.ForeignKey(Idc, models.CASCADE, verbose_name=_("IDC"), related_name="lines")
    code = CodeField(_("code"), blank=True, help_text=_("Empty: the ISP's code."))
    isp = models.ForeignKey(Isp, models.PROTECT, verbose_name=_("ISP"), related_name="lines")
    purchased_mbps = AmountField(_("purchased (Mbps)"))
    commit_mbps = AmountField(_("commit (Mbps)"), null=True, blank=True, help_text=_("What is paid in any case."))
    max_level = AmountField(
        _("highest water level"),
        null=True,
        blank=True,
        validators=[MaxValueValidator(1)],
        help_text=_("Above 0, up to 1; empty: the installation's."),
    )
    charge_type = models.CharField(
        _("charge type"), max_length=20, choices=ChargeType.choices, default=ChargeType.P95_MONTH
    )
    price_per_mbps = AmountField(_("price per Mbps"), null=True, blank=True)
    price_per_gb = AmountField(_("price per GB"), null=True, blank=True)

    class Meta:
        verbose_name = _("line")
        verbose_name_plural = _("lines")
        ordering = ["idc", "code"]
        constraints = [
            unique("idc", "code", name="line_code_unique", message=_("The IDC has a line of this code already.")),
            models.CheckConstraint(
                condition=~Q(code=""),
                name="line_code_given",
                violation_error_code="required",
                violation_error_message=_("A line needs a code."),
            ),
            between("purchased_mbps", 0, name="line_purchased_range"),
            between("commit_mbps", 0, name="line_commit_range"),
            models.CheckConstraint(
                condition=Q(max_level__gt=0, max_level__lte=1),
                name="line_max_level_range",
                violation_error_code="out_of_range",
                violation_error_message=_("The highest water level lies above 0 and is at most 1."),
            ),
            between("price_per_mbps", 0, name="line_price_per_mbps_range"),
            between("price_per_gb", 0, name="line_price_per_gb_range"),
            one_of("charge_type", ChargeType, name="line_charge_type_known"),
        ]

    def __str__(self) -> str:
        return self.audit_key

    @property
    def audit_key(self) -> str:
        return f"{self.idc.code}/{self.code}"


class Taint(Recorded):
    """A mark that keeps requests off an IDC unless they tolerate the mark. Outside its window it has no effect."""

    audit_kind = "taint"
    feed_topic = Topic.TAINTS

    idc = models.ForeignKey(Idc, models.CASCADE, verbose_name=_("IDC"), related_name="taints")
    key = models.CharField(_("key"), max_length=128, validators=[taint_key])
    value = models.CharField(_("value"), max_length=256, blank=True)
    effect = models.CharField(_("effect"), max_length=20, choices=Effect.choices, default=Effect.NO_SCHEDULE)
    reason = models.TextField(_("reason"), max_length=1000, blank=True)
    starts_at = models.DateTimeField(
        _("starts"), null=True, blank=True, help_text=_("Empty: it has always been there.")
    )
    ends_at = models.DateTimeField(_("ends"), null=True, blank=True, help_text=_("Empty: it stays until it is lifted."))
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("taint")
        verbose_name_plural = _("taints")
        ordering = ["idc", "key", "value", "effect", "starts_at", "id"]
        constraints = [
            unique(
                "idc",
                "key",
                "value",
                "effect",
                "starts_at",
                name="taint_unique_with_start",
                message=_("The IDC has this taint already, from the same time on."),
            ),
            unique(
                "idc",
                "key",
                "value",
                "effect",
                where=Q(starts_at__isnull=True),
                name="taint_unique_without_start",
                message=_("The IDC has this taint already."),
            ),
            models.CheckConstraint(
                condition=~Q(key=""),
                name="taint_key_given",
                violation_error_code="required",
                violation_error_message=_("A taint needs a key."),
            ),
            one_of("effect", Effect, name="taint_effect_known"),
            window("taint"),
        ]
        indexes = [
            models.Index(fields=["key", "value"], name="taint_by_key"),
            models.Index(fields=["effect"], name="taint_by_effect"),
            models.Index(fields=["ends_at"], name="taint_by_end"),
        ]

    def __str__(self) -> str:
        shown = f"{self.key}={self.value}" if self.value else self.key
        return f"{shown}:{self.effect}"

    @property
    def audit_key(self) -> str:
        return f"{self.idc.code}/{self}"


class Affinity(Recorded):
    """A rule that draws requests to IDCs or keeps them off: about one IDC, or all that match a selector at the time."""

    audit_kind = "affinity"
    feed_topic = Topic.AFFINITIES

    idc = models.ForeignKey(
        Idc, models.CASCADE, verbose_name=_("IDC"), null=True, blank=True, related_name="affinities"
    )
    selector = DocumentField(_("selector"), null=True, blank=True, validators=[selector_document])
    kind = models.CharField(_("kind"), max_length=10, choices=AffinityKind.choices)
    weight = models.SmallIntegerField(
        _("weight"),
        null=True,
        blank=True,
        validators=[MinValueValidator(-100), MaxValueValidator(100)],
        help_text=_("Of a preference, -100 to 100 but not 0; below 0 it keeps requests off."),
    )
    request_selector = DocumentField(
        _("request selector"),
        null=True,
        blank=True,
        validators=[selector_document],
        help_text=_("Which requests it is about, by their labels; empty: all."),
    )
    reason = models.TextField(_("reason"), max_length=1000, blank=True)
    starts_at = models.DateTimeField(_("starts"), null=True, blank=True)
    ends_at = models.DateTimeField(_("ends"), null=True, blank=True)
    created_at = models.DateTimeField(_("created"), default=timezone.now, editable=False)

    class Meta:
        verbose_name = _("affinity")
        verbose_name_plural = _("affinities")
        ordering = ["id"]
        constraints = [
            models.CheckConstraint(
                condition=Q(idc__isnull=True, selector__isnull=False) | Q(idc__isnull=False, selector__isnull=True),
                name="affinity_idc_or_selector",
                violation_error_code="idc_or_selector",
                violation_error_message=_("An affinity names either an IDC or a selector."),
            ),
            models.CheckConstraint(
                condition=Q(("weight__isnull", False), ("kind", AffinityKind.PREFER))
                | Q(("weight__isnull", True), ("kind__in", [AffinityKind.REQUIRE, AffinityKind.FORBID])),
                name="affinity_weight_by_kind",
                violation_error_code="weight_by_kind",
                violation_error_message=_("A preference needs a weight; the other kinds take none."),
            ),
            models.CheckConstraint(
                condition=Q(weight__gte=-100, weight__lte=100) & ~Q(weight=0),
                name="affinity_weight_range",
                violation_error_code="out_of_range",
                violation_error_message=_("A weight lies between -100 and 100 and is not 0."),
            ),
            one_of("kind", AffinityKind, name="affinity_kind_known"),
            window("affinity"),
        ]
        indexes = [models.Index(fields=["kind"], name="affinity_by_kind")]

    def __str__(self) -> str:
        where = self.idc.code if self.idc else "…"
        return f"{self.kind} {where}" if self.weight is None else f"{self.kind} {where} {self.weight:+d}"


class RegionScope(Recorded):
    """A region, with its sub-regions, in which an operator may write; operators without any may write everywhere."""

    audit_kind = "region_scope"
    feed_topic = Topic.TOKENS
    confidential = True

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, models.CASCADE, verbose_name=_("user"), related_name="region_scopes"
    )
    region = models.ForeignKey(Region, models.PROTECT, verbose_name=_("region"), related_name="scopes")

    class Meta:
        verbose_name = _("region scope")
        verbose_name_plural = _("region scopes")
        ordering = ["user", "region"]
        constraints = [unique("user", "region", name="region_scope_unique")]

    def __str__(self) -> str:
        return self.audit_key

    @property
    def audit_key(self) -> str:
        return f"{self.user.username}/{self.region.code}"
