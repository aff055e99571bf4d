"""The commit token: a signed recommendation with all that committing it needs.

Any process can commit a token, without waiting for the record of the decision. The token is signed, not encrypted.
"""

from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

import msgspec
from django.core import signing

from idcsched.framework.decoding import decoder_of
from idcsched.framework.errors import Invalid
from idcsched.framework.messages import _
from idcsched.framework.request import Request

from .scheduled import Scheduled

__all__ = ["LONGEST_TOKEN", "Recommendation", "RecommendedShare", "commit_token", "recommendation_of"]

SALT: Final = "idcsched.scheduling.commit"
LONGEST_TOKEN: Final = 65_536
"""Characters of a token; a larger recommendation, such as one of thousands of named IDCs, can't be committed."""


class RecommendedShare(msgspec.Struct, frozen=True):
    """An IDC with the lines chosen there; `machine_count` only where machines are spread over several IDCs."""

    idc: str
    lines: tuple[str, ...]
    machine_count: int | None = None


class Recommendation(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The content of a commit token: what was recommended to whom, by which revision of a profile."""

    decision: UUID
    request: Request
    profile: str
    revision: int
    shares: tuple[RecommendedShare, ...]
    tenant: str | None = None

    @property
    def spread(self) -> bool:
        return self.shares[0].machine_count is not None


@dataclass(frozen=True, slots=True)
class _Json:
    """The serializer that `django.core.signing` asks for."""

    def dumps(self, recommendation: Recommendation) -> bytes:
        return msgspec.json.encode(recommendation)

    def loads(self, document: bytes) -> Recommendation:
        return decoder_of(Recommendation).decode(document)


def commit_token(scheduled: Scheduled, request: Request, tenant: str | None) -> str | None:
    """Return an answer's token; None if nothing fits, the request is hypothetical, or the token would be too long."""
    if scheduled.idc is None or request.hypothetical is not None:
        return None
    recommendation = Recommendation(
        decision=UUID(scheduled.decision_id),
        request=request,
        profile=scheduled.profile.code,
        revision=scheduled.profile.revision,
        shares=_shares(scheduled, scheduled.idc.code),
        tenant=tenant,
    )
    token = signing.dumps(recommendation, salt=SALT, serializer=_Json, compress=True)
    return token if len(token) <= LONGEST_TOKEN else None


def recommendation_of(token: str, *, max_age: int) -> tuple[Recommendation, bool]:
    """Return the recommendation in a token, and whether the token is older than `max_age` seconds; raises Invalid."""
    options: dict[str, Any] = {"salt": SALT, "serializer": _Json}
    try:
        try:
            return signing.loads(token, max_age=max_age, **options), False
        except signing.SignatureExpired:
            return signing.loads(token, **options), True
    except (signing.BadSignature, msgspec.DecodeError, Invalid):
        raise Invalid("invalid_token", _("this is no commit token that was given out here"), "/commit_token") from None


def _shares(scheduled: Scheduled, idc: str) -> tuple[RecommendedShare, ...]:
    if scheduled.idcs:
        return tuple(
            RecommendedShare(share.idc, tuple(line.line for line in share.lines), share.machine_count)
            for share in scheduled.idcs
        )
    return (RecommendedShare(idc, tuple(line.line for line in scheduled.lines)),)
