"""Check the names in a request against the snapshot and the profile."""

from collections.abc import Mapping
from typing import Any

from .errors import Invalid
from .messages import Message, _
from .profile import Profile
from .request import Request
from .snapshot import Snapshot

__all__ = ["check_names"]

_NO_REGION = _("there is no region {name}")


def check_names(request: Request, snapshot: Snapshot, profile: Profile) -> None:
    """Raise Invalid, with the field's pointer, for a name that the snapshot or the profile does not have."""
    _check_known("region", request.region, snapshot.spans, "unknown_region", _NO_REGION)
    _check_known("isp", request.isp, snapshot.isps, "unknown_isp", _("there is no ISP {name}"))
    if request.only or request.exclude:
        _check_known("only", request.only, snapshot.idcs.row_of, "unknown_idc", _("there is no IDC {name}"))
        _check_known("exclude", request.exclude, snapshot.idcs.row_of, "unknown_idc", _("there is no IDC {name}"))
    client = request.client.region if request.client else None
    if client is not None and client not in snapshot.regions:
        raise Invalid("unknown_region", _NO_REGION, "/client/region", name=client)
    if request.weights:
        profile.check_weights(request.weights)


def _check_known(
    field: str, names: str | tuple[str, ...] | None, known: Mapping[str, Any], code: str, detail: Message
) -> None:
    if isinstance(names, str):
        if names not in known:
            raise Invalid(code, detail, f"/{field}", name=names)
        return
    for position, name in enumerate(names or ()):
        if name not in known:
            raise Invalid(code, detail, f"/{field}/{position}", name=name)
