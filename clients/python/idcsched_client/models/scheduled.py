from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.bill import Bill
    from ..models.candidate import Candidate
    from ..models.fallback_group import FallbackGroup
    from ..models.hint import Hint
    from ..models.idc_brief import IdcBrief
    from ..models.idc_share import IdcShare
    from ..models.line_use import LineUse
    from ..models.margin import Margin
    from ..models.near_miss import NearMiss
    from ..models.plugin_error import PluginError
    from ..models.profile_brief import ProfileBrief
    from ..models.rejected import Rejected
    from ..models.rejected_count import RejectedCount
    from ..models.snapshot_brief import SnapshotBrief
    from ..models.stale import Stale
    from ..models.tie import Tie
    from ..models.worth import Worth


T = TypeVar("T", bound="Scheduled")


@_attrs_define
class Scheduled:
    """The contract's answer, field by field.

    Attributes:
        decision_id (str):
        request_id (None | str):
        http_request_id (str):
        result (str):
        reason_code (None | str):
        idc (IdcBrief | None):
        lines (list[LineUse]):
        score (float | None):
        score_mean (float | None):
        candidates (list[Candidate] | None):
        tie (None | Tie):
        margin (Margin | None):
        rejected (list[Rejected] | None):
        rejected_counts (list[RejectedCount] | None):
        near_misses (list[NearMiss] | None):
        summary (str):
        evaluated (int):
        feasible (int):
        not_visited (int):
        picked (str):
        fallback_group (FallbackGroup | None):
        stale (list[Stale] | None):
        plugin_errors (list[PluginError]):
        degraded (bool):
        profile (ProfileBrief):
        snapshot (SnapshotBrief):
        commit_token (None | str):
        elapsed_ms (float):
        bill (Bill | None | Unset):
        bill_unknown (str | Unset):
        shape_from (str | Unset):
        shape_note (str | Unset):
        hints (list[Hint] | Unset):
        truncated (bool | Unset):
        idcs (list[IdcShare] | Unset):
        worth (Worth | Unset): What points are worth in money, over all IDCs that fit and not only those shown.

            `best`: for each scorer the largest contribution of any of these IDCs. `per_point`: the money per month that one
            point is worth; null where points have no price, for the reason in `no_price`.
    """

    decision_id: str
    request_id: None | str
    http_request_id: str
    result: str
    reason_code: None | str
    idc: IdcBrief | None
    lines: list[LineUse]
    score: float | None
    score_mean: float | None
    candidates: list[Candidate] | None
    tie: None | Tie
    margin: Margin | None
    rejected: list[Rejected] | None
    rejected_counts: list[RejectedCount] | None
    near_misses: list[NearMiss] | None
    summary: str
    evaluated: int
    feasible: int
    not_visited: int
    picked: str
    fallback_group: FallbackGroup | None
    stale: list[Stale] | None
    plugin_errors: list[PluginError]
    degraded: bool
    profile: ProfileBrief
    snapshot: SnapshotBrief
    commit_token: None | str
    elapsed_ms: float
    bill: Bill | None | Unset = UNSET
    bill_unknown: str | Unset = UNSET
    shape_from: str | Unset = UNSET
    shape_note: str | Unset = UNSET
    hints: list[Hint] | Unset = UNSET
    truncated: bool | Unset = UNSET
    idcs: list[IdcShare] | Unset = UNSET
    worth: Worth | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.bill import Bill
        from ..models.fallback_group import FallbackGroup
        from ..models.idc_brief import IdcBrief
        from ..models.margin import Margin
        from ..models.tie import Tie

        decision_id = self.decision_id

        request_id: None | str
        request_id = self.request_id

        http_request_id = self.http_request_id

        result = self.result

        reason_code: None | str
        reason_code = self.reason_code

        idc: dict[str, Any] | None
        if isinstance(self.idc, IdcBrief):
            idc = self.idc.to_dict()
        else:
            idc = self.idc

        lines = []
        for lines_item_data in self.lines:
            lines_item = lines_item_data.to_dict()
            lines.append(lines_item)

        score: float | None
        score = self.score

        score_mean: float | None
        score_mean = self.score_mean

        candidates: list[dict[str, Any]] | None
        if isinstance(self.candidates, list):
            candidates = []
            for candidates_type_0_item_data in self.candidates:
                candidates_type_0_item = candidates_type_0_item_data.to_dict()
                candidates.append(candidates_type_0_item)

        else:
            candidates = self.candidates

        tie: dict[str, Any] | None
        if isinstance(self.tie, Tie):
            tie = self.tie.to_dict()
        else:
            tie = self.tie

        margin: dict[str, Any] | None
        if isinstance(self.margin, Margin):
            margin = self.margin.to_dict()
        else:
            margin = self.margin

        rejected: list[dict[str, Any]] | None
        if isinstance(self.rejected, list):
            rejected = []
            for rejected_type_0_item_data in self.rejected:
                rejected_type_0_item = rejected_type_0_item_data.to_dict()
                rejected.append(rejected_type_0_item)

        else:
            rejected = self.rejected

        rejected_counts: list[dict[str, Any]] | None
        if isinstance(self.rejected_counts, list):
            rejected_counts = []
            for rejected_counts_type_0_item_data in self.rejected_counts:
                rejected_counts_type_0_item = rejected_counts_type_0_item_data.to_dict()
                rejected_counts.append(rejected_counts_type_0_item)

        else:
            rejected_counts = self.rejected_counts

        near_misses: list[dict[str, Any]] | None
        if isinstance(self.near_misses, list):
            near_misses = []
            for near_misses_type_0_item_data in self.near_misses:
                near_misses_type_0_item = near_misses_type_0_item_data.to_dict()
                near_misses.append(near_misses_type_0_item)

        else:
            near_misses = self.near_misses

        summary = self.summary

        evaluated = self.evaluated

        feasible = self.feasible

        not_visited = self.not_visited

        picked = self.picked

        fallback_group: dict[str, Any] | None
        if isinstance(self.fallback_group, FallbackGroup):
            fallback_group = self.fallback_group.to_dict()
        else:
            fallback_group = self.fallback_group

        stale: list[dict[str, Any]] | None
        if isinstance(self.stale, list):
            stale = []
            for stale_type_0_item_data in self.stale:
                stale_type_0_item = stale_type_0_item_data.to_dict()
                stale.append(stale_type_0_item)

        else:
            stale = self.stale

        plugin_errors = []
        for plugin_errors_item_data in self.plugin_errors:
            plugin_errors_item = plugin_errors_item_data.to_dict()
            plugin_errors.append(plugin_errors_item)

        degraded = self.degraded

        profile = self.profile.to_dict()

        snapshot = self.snapshot.to_dict()

        commit_token: None | str
        commit_token = self.commit_token

        elapsed_ms = self.elapsed_ms

        bill: dict[str, Any] | None | Unset
        if isinstance(self.bill, Unset):
            bill = UNSET
        elif isinstance(self.bill, Bill):
            bill = self.bill.to_dict()
        else:
            bill = self.bill

        bill_unknown = self.bill_unknown

        shape_from = self.shape_from

        shape_note = self.shape_note

        hints: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.hints, Unset):
            hints = []
            for hints_item_data in self.hints:
                hints_item = hints_item_data.to_dict()
                hints.append(hints_item)

        truncated = self.truncated

        idcs: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.idcs, Unset):
            idcs = []
            for idcs_item_data in self.idcs:
                idcs_item = idcs_item_data.to_dict()
                idcs.append(idcs_item)

        worth: dict[str, Any] | Unset = UNSET
        if not isinstance(self.worth, Unset):
            worth = self.worth.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "decision_id": decision_id,
                "request_id": request_id,
                "http_request_id": http_request_id,
                "result": result,
                "reason_code": reason_code,
                "idc": idc,
                "lines": lines,
                "score": score,
                "score_mean": score_mean,
                "candidates": candidates,
                "tie": tie,
                "margin": margin,
                "rejected": rejected,
                "rejected_counts": rejected_counts,
                "near_misses": near_misses,
                "summary": summary,
                "evaluated": evaluated,
                "feasible": feasible,
                "not_visited": not_visited,
                "picked": picked,
                "fallback_group": fallback_group,
                "stale": stale,
                "plugin_errors": plugin_errors,
                "degraded": degraded,
                "profile": profile,
                "snapshot": snapshot,
                "commit_token": commit_token,
                "elapsed_ms": elapsed_ms,
            }
        )
        if bill is not UNSET:
            field_dict["bill"] = bill
        if bill_unknown is not UNSET:
            field_dict["bill_unknown"] = bill_unknown
        if shape_from is not UNSET:
            field_dict["shape_from"] = shape_from
        if shape_note is not UNSET:
            field_dict["shape_note"] = shape_note
        if hints is not UNSET:
            field_dict["hints"] = hints
        if truncated is not UNSET:
            field_dict["truncated"] = truncated
        if idcs is not UNSET:
            field_dict["idcs"] = idcs
        if worth is not UNSET:
            field_dict["worth"] = worth

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.bill import Bill
        from ..models.candidate import Candidate
        from ..models.fallback_group import FallbackGroup
        from ..models.hint import Hint
        from ..models.idc_brief import IdcBrief
        from ..models.idc_share import IdcShare
        from ..models.line_use import LineUse
        from ..models.margin import Margin
        from ..models.near_miss import NearMiss
        from ..models.plugin_error import PluginError
        from ..models.profile_brief import ProfileBrief
        from ..models.rejected import Rejected
        from ..models.rejected_count import RejectedCount
        from ..models.snapshot_brief import SnapshotBrief
        from ..models.stale import Stale
        from ..models.tie import Tie
        from ..models.worth import Worth

        d = dict(src_dict)
        decision_id = d.pop("decision_id")

        def _parse_request_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        request_id = _parse_request_id(d.pop("request_id"))

        http_request_id = d.pop("http_request_id")

        result = d.pop("result")

        def _parse_reason_code(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        reason_code = _parse_reason_code(d.pop("reason_code"))

        def _parse_idc(data: object) -> IdcBrief | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                idc_type_0 = IdcBrief.from_dict(data)

                return idc_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(IdcBrief | None, data)

        idc = _parse_idc(d.pop("idc"))

        lines = []
        _lines = d.pop("lines")
        for lines_item_data in _lines:
            lines_item = LineUse.from_dict(lines_item_data)

            lines.append(lines_item)

        def _parse_score(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        score = _parse_score(d.pop("score"))

        def _parse_score_mean(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        score_mean = _parse_score_mean(d.pop("score_mean"))

        def _parse_candidates(data: object) -> list[Candidate] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                candidates_type_0 = []
                _candidates_type_0 = data
                for candidates_type_0_item_data in _candidates_type_0:
                    candidates_type_0_item = Candidate.from_dict(candidates_type_0_item_data)

                    candidates_type_0.append(candidates_type_0_item)

                return candidates_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Candidate] | None, data)

        candidates = _parse_candidates(d.pop("candidates"))

        def _parse_tie(data: object) -> None | Tie:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                tie_type_0 = Tie.from_dict(data)

                return tie_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | Tie, data)

        tie = _parse_tie(d.pop("tie"))

        def _parse_margin(data: object) -> Margin | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                margin_type_0 = Margin.from_dict(data)

                return margin_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Margin | None, data)

        margin = _parse_margin(d.pop("margin"))

        def _parse_rejected(data: object) -> list[Rejected] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                rejected_type_0 = []
                _rejected_type_0 = data
                for rejected_type_0_item_data in _rejected_type_0:
                    rejected_type_0_item = Rejected.from_dict(rejected_type_0_item_data)

                    rejected_type_0.append(rejected_type_0_item)

                return rejected_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Rejected] | None, data)

        rejected = _parse_rejected(d.pop("rejected"))

        def _parse_rejected_counts(data: object) -> list[RejectedCount] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                rejected_counts_type_0 = []
                _rejected_counts_type_0 = data
                for rejected_counts_type_0_item_data in _rejected_counts_type_0:
                    rejected_counts_type_0_item = RejectedCount.from_dict(rejected_counts_type_0_item_data)

                    rejected_counts_type_0.append(rejected_counts_type_0_item)

                return rejected_counts_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[RejectedCount] | None, data)

        rejected_counts = _parse_rejected_counts(d.pop("rejected_counts"))

        def _parse_near_misses(data: object) -> list[NearMiss] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                near_misses_type_0 = []
                _near_misses_type_0 = data
                for near_misses_type_0_item_data in _near_misses_type_0:
                    near_misses_type_0_item = NearMiss.from_dict(near_misses_type_0_item_data)

                    near_misses_type_0.append(near_misses_type_0_item)

                return near_misses_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[NearMiss] | None, data)

        near_misses = _parse_near_misses(d.pop("near_misses"))

        summary = d.pop("summary")

        evaluated = d.pop("evaluated")

        feasible = d.pop("feasible")

        not_visited = d.pop("not_visited")

        picked = d.pop("picked")

        def _parse_fallback_group(data: object) -> FallbackGroup | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                fallback_group_type_0 = FallbackGroup.from_dict(data)

                return fallback_group_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(FallbackGroup | None, data)

        fallback_group = _parse_fallback_group(d.pop("fallback_group"))

        def _parse_stale(data: object) -> list[Stale] | None:
            if data is None:
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                stale_type_0 = []
                _stale_type_0 = data
                for stale_type_0_item_data in _stale_type_0:
                    stale_type_0_item = Stale.from_dict(stale_type_0_item_data)

                    stale_type_0.append(stale_type_0_item)

                return stale_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Stale] | None, data)

        stale = _parse_stale(d.pop("stale"))

        plugin_errors = []
        _plugin_errors = d.pop("plugin_errors")
        for plugin_errors_item_data in _plugin_errors:
            plugin_errors_item = PluginError.from_dict(plugin_errors_item_data)

            plugin_errors.append(plugin_errors_item)

        degraded = d.pop("degraded")

        profile = ProfileBrief.from_dict(d.pop("profile"))

        snapshot = SnapshotBrief.from_dict(d.pop("snapshot"))

        def _parse_commit_token(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        commit_token = _parse_commit_token(d.pop("commit_token"))

        elapsed_ms = d.pop("elapsed_ms")

        def _parse_bill(data: object) -> Bill | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                bill_type_0 = Bill.from_dict(data)

                return bill_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Bill | None | Unset, data)

        bill = _parse_bill(d.pop("bill", UNSET))

        bill_unknown = d.pop("bill_unknown", UNSET)

        shape_from = d.pop("shape_from", UNSET)

        shape_note = d.pop("shape_note", UNSET)

        _hints = d.pop("hints", UNSET)
        hints: list[Hint] | Unset = UNSET
        if _hints is not UNSET:
            hints = []
            for hints_item_data in _hints:
                hints_item = Hint.from_dict(hints_item_data)

                hints.append(hints_item)

        truncated = d.pop("truncated", UNSET)

        _idcs = d.pop("idcs", UNSET)
        idcs: list[IdcShare] | Unset = UNSET
        if _idcs is not UNSET:
            idcs = []
            for idcs_item_data in _idcs:
                idcs_item = IdcShare.from_dict(idcs_item_data)

                idcs.append(idcs_item)

        _worth = d.pop("worth", UNSET)
        worth: Worth | Unset
        if isinstance(_worth, Unset):
            worth = UNSET
        else:
            worth = Worth.from_dict(_worth)

        scheduled = cls(
            decision_id=decision_id,
            request_id=request_id,
            http_request_id=http_request_id,
            result=result,
            reason_code=reason_code,
            idc=idc,
            lines=lines,
            score=score,
            score_mean=score_mean,
            candidates=candidates,
            tie=tie,
            margin=margin,
            rejected=rejected,
            rejected_counts=rejected_counts,
            near_misses=near_misses,
            summary=summary,
            evaluated=evaluated,
            feasible=feasible,
            not_visited=not_visited,
            picked=picked,
            fallback_group=fallback_group,
            stale=stale,
            plugin_errors=plugin_errors,
            degraded=degraded,
            profile=profile,
            snapshot=snapshot,
            commit_token=commit_token,
            elapsed_ms=elapsed_ms,
            bill=bill,
            bill_unknown=bill_unknown,
            shape_from=shape_from,
            shape_note=shape_note,
            hints=hints,
            truncated=truncated,
            idcs=idcs,
            worth=worth,
        )

        scheduled.additional_properties = d
        return scheduled

    @property
    def additional_keys(self) -> list[str]:
        return list(self.additional_properties.keys())

    def __getitem__(self, key: str) -> Any:
        return self.additional_properties[key]

    def __setitem__(self, key: str, value: Any) -> None:
        self.additional_properties[key] = value

    def __delitem__(self, key: str) -> None:
        del self.additional_properties[key]

    def __contains__(self, key: str) -> bool:
        return key in self.additional_properties
