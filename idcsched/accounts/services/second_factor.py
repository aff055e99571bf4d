from math import ceil
from typing import Final

from django.utils import timezone
from django_otp.plugins.otp_static.models import StaticDevice, StaticToken
from django_otp.plugins.otp_totp.models import TOTPDevice

from idcsched.accounts.models import User
from idcsched.audit.services import change_record
from idcsched.audit.writing import locked, write

__all__ = ["second_factor_enrol", "second_factor_reset", "second_factor_verify"]

RECOVERY_CODES: Final = 10


@write()
def second_factor_enrol(*, user: User, key: str, code: str) -> list[str]:
    """Make `key` the user's second factor if the code is one of it; returns the recovery codes, none if it is not.

    A second factor that the user has already stays.
    """
    locked(user)
    if TOTPDevice.objects.filter(user=user).exists():
        return []
    device = TOTPDevice.objects.create(user=user, name="TOTP", key=key)
    if not device.verify_token(code):
        device.delete()
        return []
    recovery = StaticDevice.objects.create(user=user, name="recovery codes")
    codes = [StaticToken.random_token() for _ in range(RECOVERY_CODES)]
    StaticToken.objects.bulk_create(StaticToken(device=recovery, token=code) for code in codes)
    _record(user, "set up")
    return codes


@write()
def second_factor_verify(*, user: User, code: str) -> int:
    """Use a code of the user's app or a recovery code; returns 0 if it is right, else for how many seconds to wait.

    A code counts once. After the first wrong code none counts for a second, after each further one for twice as long.
    """
    device = (TOTPDevice if code.isdecimal() else StaticDevice).objects.select_for_update().filter(user=user).first()
    if device is None:
        return 1
    if device.verify_token(code):
        if isinstance(device, StaticDevice):
            _record(user, "recovery code used")
        return 0
    _allowed, pause = device.verify_is_allowed()
    return ceil((pause["locked_until"] - timezone.now()).total_seconds()) if pause else 1


@write()
def second_factor_reset(*, user: User) -> bool:
    """Delete the user's second factor and recovery codes; returns whether there were any."""
    deleted = [model.objects.filter(user=user).delete()[0] for model in (TOTPDevice, StaticDevice)]
    if any(deleted):
        _record(user, "reset")
    return any(deleted)


def _record(user: User, event: str) -> None:
    change_record(kind=user.audit_kind, key=user.audit_key, before={}, after={"second_factor": event})
