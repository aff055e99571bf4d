"""The record of a decision: the answer as it was given, the request, and the inputs of the decision."""

from collections.abc import Mapping
from datetime import UTC, datetime
from uuid import UUID

import msgspec
from django.conf import settings

from idcsched.framework.overlay import Allocation
from idcsched.framework.question import Question
from idcsched.framework.recording import inputs_of, pack, request_inputs
from idcsched.scheduling.snapshot_archive import SnapshotArchive

from .models import Decision
from .outcomes import NotedIdc
from .scheduled import Scheduled
from .sentences import Notebook

__all__ = ["DecisionRecord"]


class DecisionRecord(msgspec.Struct, frozen=True, kw_only=True):
    """Everything that a decision's row is made of. Cheap to make; the row itself is made where it is stored."""

    scheduled: Scheduled
    notebook: Notebook
    question: Question
    tenant: str | None
    actor: str
    noted: tuple[NotedIdc, ...] = ()
    taken: tuple[Allocation, ...] = ()
    """The allocations laid over the question's snapshot: what earlier orders took, or would have taken."""

    @property
    def size(self) -> int:
        """The record's rough size in memory: the number of IDCs that it names."""
        return 1 + len(self.scheduled.candidates or ()) + len(self.scheduled.rejected or ())

    def row(self, tenants: Mapping[str, int], pictures: SnapshotArchive | None = None) -> Decision:
        """Return the row with what is `noted`, the answer in English; `tenants` maps tenants' codes to primary keys.

        With `pictures` the row refers to a picture of the part of the snapshot that was used, else it holds that part.
        """
        scheduled, question = self.scheduled, self.question
        request, snapshot = question.request, question.snapshot
        keep_inputs = UUID(scheduled.decision_id).int % 100 < settings.RECORD_INPUTS  # a random sample, in per cent
        picture = pictures.of(request, snapshot) if keep_inputs and pictures else None
        history = pictures.of_history(request, snapshot) if keep_inputs and pictures else None
        row = Decision(
            id=UUID(scheduled.decision_id),
            created_at=datetime.fromtimestamp(question.now, UTC),
            tenant_id=tenants.get(self.tenant or ""),
            tenant_code=self.tenant or "",
            actor=self.actor,
            request_id=request.request_id or "",
            http_request_id=scheduled.http_request_id,
            result=scheduled.result,
            reason_code=scheduled.reason_code or "",
            idc=scheduled.idc.code if scheduled.idc else "",
            profile=scheduled.profile.code,
            profile_revision=scheduled.profile.revision,
            request=msgspec.to_builtins(request),
            answer=msgspec.Raw(msgspec.json.encode(scheduled)),
            sentences=msgspec.Raw(self.notebook.encoded),
            inputs=pack((request_inputs if picture else inputs_of)(question, self.taken)) if keep_inputs else None,
            picture=picture,
            history=history,
        )
        row.noted = self.noted
        return row
