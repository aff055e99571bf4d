"""Providers as rows: made, changed, removed, and turned into what drives them."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from idcsched.audit.writing import below, row_create, row_delete, row_update, write
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Conflict, FieldError, Invalid, Unavailable
from idcsched.framework.messages import _
from idcsched.inventory.models import Idc
from idcsched.outbound.secrets import PROVIDER_SECRETS, Recipients, secret_ref_check, secret_resolve

from .driver import Call, Driver
from .driver_kinds import driver_kinds
from .models import Machine, MachineState
from .provider_models import Provider

__all__ = [
    "driver_and_call",
    "provider_codes",
    "provider_create",
    "provider_delete",
    "provider_secret",
    "provider_update",
    "providers_usable",
]

FIELDS = frozenset({"code", "name", "kind", "config", "secret_ref", "enabled"})
KEPT_WITH_MACHINES = ("code", "kind")
EXAMPLES = 3


def provider_codes() -> Iterable[str]:
    """List the codes of all providers."""
    return Provider.objects.values_list("code", flat=True)


@write()
def provider_create(
    *,
    code: str,
    kind: str,
    name: str = "",
    config: Mapping[str, Any] | None = None,
    secret_ref: str = "",
    enabled: bool = True,
) -> Provider:
    """A new provider. Raises Invalid with everything that is wrong, Conflict."""
    row = Provider(
        code=code,
        kind=kind,
        name=name,
        config={} if config is None else config,
        secret_ref=secret_ref,
        enabled=enabled,
    )
    _check(row)
    return row_create(row)


@write()
def provider_update(*, provider: Provider, changes: Mapping[str, Any]) -> Provider:
    """Set those fields; raises Invalid, NotFound, Conflict: code and kind are fixed while it has machines."""
    changed = row_update(provider, changes, allowed=FIELDS)
    if any(name in changes and changes[name] != getattr(provider, name) for name in KEPT_WITH_MACHINES):
        _refuse_with_machines(provider.code)
    _check(changed)
    return changed


@write()
def provider_delete(*, provider: Provider) -> None:
    """Remove one that no IDC names and that has no machine; raises NotFound, Conflict `in_use`."""
    _refuse_with_machines(provider.code)
    named = list(Idc.objects.filter(provider=provider.code).order_by("code").values_list("code", flat=True)[:EXAMPLES])
    if named:
        raise Conflict("in_use", _("in use by {examples}"), examples=", ".join(named))
    row_delete(provider)


def providers_usable(codes: Iterable[str]) -> frozenset[str]:
    """Those of the codes that are of providers which may start machines."""
    kinds = driver_kinds().drivers
    rows = Provider.objects.filter(code__in=list(codes), enabled=True, kind__in=list(kinds))
    return frozenset(rows.values_list("code", flat=True))


def driver_and_call(code: str, *, now: datetime) -> tuple[Driver, Call]:
    """What drives the provider, and what one turn with it may use; raises Invalid, Unavailable."""
    row = Provider.objects.filter(code=code).first()
    if row is None:
        raise Unavailable("no_provider", _("there is no provider {provider}"), provider=code)
    driver = _driver(row.kind, row.config)
    secret, recipients = None, None
    if row.secret_ref:
        secret = secret_resolve(row.secret_ref, driver.hosts(), setting=PROVIDER_SECRETS)
        recipients = Recipients(ref=row.secret_ref, setting=PROVIDER_SECRETS)
    timeout = driver.config.timeout_seconds
    return driver, Call(provider=row.code, now=now, timeout=timeout, secret=secret, recipients=recipients)


def provider_secret(row: Provider) -> str:
    """The secret that the provider's messages are signed with; raises Invalid, Unavailable."""
    return secret_resolve(row.secret_ref, _driver(row.kind, row.config).hosts(), setting=PROVIDER_SECRETS)


def _check(row: Provider) -> None:
    """What a row must be to be saved; raises Invalid with everything that is wrong, field by field."""
    errors: list[FieldError] = []
    with _noted(errors):
        _check_config(row)
    with _noted(errors):
        if row.secret_ref:
            secret_ref_check(row.secret_ref, _hosts(row), setting=PROVIDER_SECRETS)
    if errors:
        raise Invalid.of(errors)


def _hosts(row: Provider) -> Iterable[str]:
    """Whom the driver calls; nobody where its configuration is refused anyway."""
    try:
        return tuple(_driver(row.kind, row.config).hosts())
    except Invalid:
        return ()


def _check_config(row: Provider) -> None:
    driver = _driver(row.kind, row.config)
    with below("/config"):
        if wrong := list(driver.check()):
            raise Invalid.of(wrong)


def _driver(kind: str, config: Any) -> Driver:
    found = driver_kinds().drivers.get(kind)
    if found is None:
        detail = _("there is no kind of provider {name}: this must be one of {choices}")
        choices = ", ".join(sorted(driver_kinds().drivers))
        raise Invalid("unknown_kind", detail, "/kind", name=kind, choices=choices)
    return found(convert(config, found.Config, "/config"))


@contextmanager
def _noted(errors: list[FieldError]) -> Iterator[None]:
    try:
        yield
    except Invalid as error:
        errors += error.errors


def _refuse_with_machines(code: str) -> None:
    """Raises Conflict where machines of the provider stand, or may."""
    over = [MachineState.DELETED, MachineState.GIVEN_UP]
    machines = Machine.objects.filter(provider=code).exclude(state__in=over, next_try_at__isnull=True)
    names = list(machines.order_by("name").values_list("name", flat=True)[:EXAMPLES])
    if names:
        raise Conflict("in_use", _("in use by {examples}"), examples=", ".join(names))
