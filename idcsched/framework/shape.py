"""The shape of an order's traffic: which part of its peak flows in each hour of the week."""

from collections.abc import Mapping, Sequence
from operator import attrgetter
from typing import Literal

import msgspec
import numpy as np

from .columns import HOURS_A_WEEK
from .facts import ShapeFact
from .messages import Message, _
from .normalize import Floats
from .request import Request

__all__ = ["FLAT", "OrderShape", "hours_of_a_week", "order_shape", "shape_sentence"]

BUSINESS, TENANT = "business", "tenant"

ENTERED = _("its traffic counts by the shape of {business} that an operator has entered for {tenant}")
ENTERED_FOR_ALL = _("its traffic counts by the shape of {business} that an operator has entered for all tenants")
LEARNT = _(
    "its traffic counts by the shape of {tenant}'s {business}, learnt from {lines} lines over {days} days with an "
    "error of {error:.0%}"
)
LEARNT_OF_ALL = _(
    "its traffic counts by the shape of all tenants' {business}, learnt from {lines} lines over {days} days with an "
    "error of {error:.0%}"
)
LEARNT_WITHOUT_ERROR = _(
    "its traffic counts by the shape of {tenant}'s {business}, learnt from {lines} lines over {days} days"
)
LEARNT_OF_ALL_WITHOUT_ERROR = _(
    "its traffic counts by the shape of all tenants' {business}, learnt from {lines} lines over {days} days"
)
"""For records of earlier versions, which do not have the error."""
UNKNOWN_BUSINESS = _("its traffic counts as flat: no shape is known for {business}")
NO_BUSINESS = _("its traffic counts as flat: the request has neither a shape nor a label `business`")


class OrderShape(msgspec.Struct, frozen=True, kw_only=True):
    """The shares of the order's peak in the 168 hours of a week, and where they come from.

    Without hours nothing is known, and the order counts as flat. `known` is what is known of its business, where that
    is the source: what an operator has `entered`, or what was `learnt` from traffic.
    """

    hours: Floats | None = None
    source: Literal["request", "entered", "learnt", "flat"] = "flat"
    known: ShapeFact | None = None


FLAT = OrderShape()


def order_shape(request: Request, labels: Mapping[str, str], known: Mapping[tuple[str, str], ShapeFact]) -> OrderShape:
    """Return the request's own shape, else what is known of the business that its label names, else flat.

    What an operator has entered comes before what was learnt, and then what is known of the tenant's business before
    what is known of that business of all tenants.
    """
    if request.shape is not None:
        return OrderShape(hours=hours_of_a_week(request.shape), source="request")
    tenant, business = labels.get(TENANT, ""), labels.get(BUSINESS, "")
    facts = [known[key] for key in ((tenant, business), ("", business)) if key in known]
    fact = min(facts, key=attrgetter("learnt"), default=None)
    if fact is None:
        return FLAT
    return OrderShape(hours=fact.hours.astype(np.float64), source="learnt" if fact.learnt else "entered", known=fact)


def hours_of_a_week(shape: Sequence[float]) -> Floats:
    """Return the 168 shares of its largest number of a shape with 24 or 168 numbers."""
    shares = np.array(shape) / max(shape)
    return np.tile(shares, HOURS_A_WEEK // shares.size)


def shape_sentence(shape: OrderShape, labels: Mapping[str, str]) -> tuple[Message, Mapping[str, object]] | None:
    """Return in a sentence where the shape comes from, and whose it is, with its parameters; None: from the request."""
    business = labels.get(BUSINESS, "")
    if shape.known is not None:
        whose = {"business": business, "tenant": shape.known.tenant} if shape.known.tenant else {"business": business}
        if not shape.known.learnt:
            return ENTERED if shape.known.tenant else ENTERED_FOR_ALL, whose
        figures = {"lines": shape.known.lines, "days": shape.known.days}
        if shape.known.error is None:
            return LEARNT_WITHOUT_ERROR if shape.known.tenant else LEARNT_OF_ALL_WITHOUT_ERROR, {**whose, **figures}
        return LEARNT if shape.known.tenant else LEARNT_OF_ALL, {**whose, **figures, "error": shape.known.error}
    if shape.source == "request":
        return None
    return (UNKNOWN_BUSINESS, {"business": business}) if business else (NO_BUSINESS, {})
