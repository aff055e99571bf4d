"""The closed vocabularies of the inventory."""

from django.db.models import TextChoices
from django.utils.translation import gettext_lazy as _

__all__ = ["AffinityKind", "ChargeType", "Effect", "Status", "Tier"]


class Tier(TextChoices):
    EDGE = "edge", _("edge")
    CENTER = "center", _("center")


class Status(TextChoices):
    """The status of an IDC. Only `online` takes requests; `retired` IDCs are kept because history refers to them."""

    ONLINE = "online", _("online")
    OFFLINE = "offline", _("offline")
    DRAINING = "draining", _("draining")
    RETIRED = "retired", _("retired")


class ChargeType(TextChoices):
    """How an ISP bills a line. Prices of the daily types are per day."""

    P95_MONTH = "p95_month", _("monthly 95th percentile")
    FOURTH_PEAK_MONTH = "fourth_peak_month", _("fourth peak of the month")
    DAILY_PEAK = "daily_peak", _("daily peak")
    DAILY_PEAK_AVERAGE = "daily_peak_average", _("average of daily peaks")
    ENHANCED_95 = "enhanced_95", _("enhanced 95th percentile")
    FIXED = "fixed", _("fixed")
    VOLUME = "volume", _("by volume")


class Effect(TextChoices):
    NO_SCHEDULE = "NoSchedule", _("no new machines")
    PREFER_NO_SCHEDULE = "PreferNoSchedule", _("new machines only if nothing better fits")
    NO_EXECUTE = "NoExecute", _("no new machines, and those there are due to leave")


class AffinityKind(TextChoices):
    PREFER = "prefer", _("prefer")
    REQUIRE = "require", _("require")
    FORBID = "forbid", _("forbid")
