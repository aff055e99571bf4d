"""What in the inventory names a region, an ISP, an IDC, a provider or a tenant by its code alone."""

from collections.abc import Iterator

from django.db.models import Q
from django.utils import timezone

from idcsched.framework.matching import parse_terms

from .labels import CODE_FACTS, terms_name
from .models import Affinity, Idc

__all__ = ["named_by"]

TENANT = "tenant"


def named_by(kind: str, code: str) -> Iterator[str]:
    """Yield the IDCs that name this provider, and the affinities, ended ones apart, whose selectors name the row.

    Tenants are named by selectors of requests, the others by selectors of IDCs.
    """
    fact = TENANT if kind == TENANT else CODE_FACTS.get(kind)
    if fact is None:
        return
    if kind == "provider":
        for idc in Idc.objects.filter(provider=code).values_list("code", flat=True):
            yield f"{Idc._meta.verbose_name} {idc}"
    not_ended = Q(ends_at__isnull=True) | Q(ends_at__gt=timezone.now())
    selector = "request_selector" if kind == TENANT else "selector"
    for affinity in Affinity.objects.filter(not_ended, **{f"{selector}__isnull": False}):
        if terms_name(parse_terms(getattr(affinity, selector)), fact, code):
            yield f"{Affinity._meta.verbose_name} {affinity.pk}"
