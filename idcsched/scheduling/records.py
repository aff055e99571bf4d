"""What is kept of a decision: the answer as it was given, what was asked, and what it was decided on."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from uuid import UUID

import msgspec
from django.conf import settings

from idcsched.framework.external import Reply
from idcsched.framework.overlay import Tenancy
from idcsched.framework.recording import Asked, asked_of, inputs_of, pack
from idcsched.framework.request import Request
from idcsched.framework.snapshot import Snapshot
from idcsched.scheduling.snapshot_archive import SnapshotArchive

from .models import Decision
from .scheduled import Scheduled
from .sentences import Notebook

__all__ = ["DecisionRecord"]


class DecisionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a decision's row is made of. Cheap to make; the row is worked out where nobody waits for it."""

    scheduled: Scheduled
    notebook: Notebook
    request: Request
    snapshot: Snapshot
    tenant: str | None
    labels: Mapping[str, str]
    replies: Mapping[str, Reply]
    actor: str
    now: float
    taken: tuple[Tenancy, ...] = ()
    """What was laid over the snapshot: those before it took it, or would have."""

    @property
    def size(self) -> int:
        """Roughly how much of memory it holds: of how many IDCs it tells."""
        return 1 + len(self.scheduled.candidates or ()) + len(self.scheduled.rejected or ())

    def row(self, tenants: Mapping[str, int], pictures: SnapshotArchive | None = None) -> Decision:
        """The answer in English, with what its sentences were made of; `tenants` has the keys of the codes.

        What it saw of the world is one of the `pictures` then; without them the row stands for itself.
        """
        scheduled = self.scheduled
        kept = UUID(scheduled.decision_id).int % 100 < settings.RECORD_INPUTS  # of so many in a hundred, by chance
        picture = pictures.of(self.request, self.snapshot) if kept and pictures else None
        return Decision(
            id=UUID(scheduled.decision_id),
            created_at=datetime.fromtimestamp(self.now, UTC),
            tenant_id=tenants.get(self.tenant or ""),
            tenant_code=self.tenant or "",
            actor=self.actor,
            request_id=self.request.request_id or "",
            http_request_id=scheduled.http_request_id,
            result=scheduled.result,
            reason_code=scheduled.reason_code or "",
            idc=scheduled.idc.code if scheduled.idc else "",
            profile=scheduled.profile.code,
            profile_revision=scheduled.profile.revision,
            request=msgspec.to_builtins(self.request),
            answer=msgspec.Raw(msgspec.json.encode(scheduled)),
            sentences=msgspec.Raw(self.notebook.encoded),
            inputs=self._inputs(asked_of if picture else inputs_of) if kept else None,
            picture=picture,
        )

    def _inputs(self, part: Callable[..., Asked]) -> bytes:
        return pack(
            part(
                self.request,
                self.snapshot,
                now=self.now,
                reference=self.scheduled.http_request_id,
                labels=self.labels,
                replies=self.replies,
                taken=self.taken,
            )
        )
