"""What in the inventory names a region, an ISP, an IDC or a provider by its code alone."""

from collections.abc import Iterator

from django.db.models import Q
from django.utils import timezone

from idcsched.framework.matching import parse_terms

from .labels import CODE_FACTS, terms_name
from .models import Affinity, Idc

__all__ = ["named_by"]


def named_by(kind: str, code: str) -> Iterator[str]:
    """Yield the IDCs that name this provider, and the affinities, ended ones apart, whose selectors name the row."""
    if kind not in CODE_FACTS:
        return
    if kind == "provider":
        for idc in Idc.objects.filter(provider=code).values_list("code", flat=True):
            yield f"{Idc._meta.verbose_name} {idc}"
    not_ended = Q(ends_at__isnull=True) | Q(ends_at__gt=timezone.now())
    for affinity in Affinity.objects.filter(not_ended, selector__isnull=False):
        if terms_name(parse_terms(affinity.selector), kind, code):
            yield f"{Affinity._meta.verbose_name} {affinity.pk}"
