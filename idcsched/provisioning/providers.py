"""Rows of providers: creating, changing and removing them, and making their drivers."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import datetime
from typing import Any

from idcsched.audit.naming import examples
from idcsched.audit.writing import below, row_create, row_delete, row_update, write
from idcsched.framework.decoding import convert
from idcsched.framework.errors import Conflict, FieldError, Invalid, Unavailable
from idcsched.framework.messages import _
from idcsched.outbound.literal_secrets import literal_secrets
from idcsched.outbound.secrets import PROVIDER_SECRETS, Recipients, secret_ref_check, secret_resolve
from idcsched.placement.models import Machine, MachineState
from idcsched.placement.provider_models import Provider

from .driver import Call, Driver
from .driver_kinds import driver_kinds

__all__ = [
    "driver_and_call",
    "provider_codes",
    "provider_create",
    "provider_delete",
    "provider_secret",
    "provider_update",
]

FIELDS = frozenset({"code", "name", "kind", "config", "secret_ref", "enabled"})
KEPT_WITH_MACHINES = ("code", "kind")


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
    """Create a provider. Raises Invalid with all errors, Conflict."""
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
    """Change a provider; raises Invalid, NotFound, Conflict also where code or kind change while it has machines
    or, for the code, something names it.
    """
    changed = row_update(provider, changes, allowed=FIELDS)
    if any(name in changes and changes[name] != getattr(provider, name) for name in KEPT_WITH_MACHINES):
        _refuse_with_machines(provider.code)
    _check(changed)
    return changed


@write()
def provider_delete(*, provider: Provider) -> None:
    """Remove a provider that nothing names and that has no machine; raises NotFound, Conflict `in_use`."""
    _refuse_with_machines(provider.code)
    row_delete(provider)


def driver_and_call(code: str, *, now: datetime) -> tuple[Driver, Call]:
    """Return the provider's driver and the bounds of one turn with it; raises Invalid, Unavailable."""
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
    """Return the secret that signs the provider's messages; raises Invalid, Unavailable."""
    return secret_resolve(row.secret_ref, _driver(row.kind, row.config).hosts(), setting=PROVIDER_SECRETS)


def _check(row: Provider) -> None:
    """Check a row before it is saved; raises Invalid with all errors, field by field."""
    errors: list[FieldError] = []
    with _errors_collected(errors):
        _check_config(row)
    with _errors_collected(errors):
        if row.secret_ref:
            secret_ref_check(row.secret_ref, _hosts(row), setting=PROVIDER_SECRETS)
    if errors:
        raise Invalid.of(errors)


def _hosts(row: Provider) -> Iterable[str]:
    """Return the hosts that the driver calls; none where its configuration is invalid."""
    try:
        return tuple(_driver(row.kind, row.config).hosts())
    except Invalid:
        return ()


def _check_config(row: Provider) -> None:
    driver = _driver(row.kind, row.config)
    with below("/config"):
        if errors := [*driver.check(), *literal_secrets(driver.config)]:
            raise Invalid.of(errors)


def _driver(kind: str, config: Any) -> Driver:
    driver_class = driver_kinds().classes.get(kind)
    if driver_class is None:
        detail = _("there is no kind of provider {name}: this must be one of {choices}")
        choices = ", ".join(sorted(driver_kinds().classes))
        raise Invalid("unknown_kind", detail, "/kind", name=kind, choices=choices)
    return driver_class(convert(config, driver_class.Config, "/config"))


@contextmanager
def _errors_collected(errors: list[FieldError]) -> Iterator[None]:
    try:
        yield
    except Invalid as error:
        errors += error.errors


def _refuse_with_machines(code: str) -> None:
    """Raise Conflict where machines of the provider exist, or may exist: one that is gone may be created late."""
    over = [MachineState.DELETED, MachineState.GIVEN_UP]
    machines = Machine.objects.filter(provider=code)
    if names := list(machines.exclude(state__in=over).values_list("name", flat=True)):
        raise Conflict("in_use", _("in use by {examples}"), examples=examples(names))
    if names := list(machines.filter(next_try_at__isnull=False).values_list("name", flat=True)):
        detail = _(
            "these machines are gone, but looked up for about an hour, as the provider may create them late: {examples}"
        )
        raise Conflict("in_use", detail, examples=examples(names))
