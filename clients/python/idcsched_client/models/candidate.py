from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.bill import Bill
    from ..models.candidate_scores import CandidateScores
    from ..models.line_use import LineUse
    from ..models.passed import Passed


T = TypeVar("T", bound="Candidate")


@_attrs_define
class Candidate:
    """One IDC of the ranking. `filters`: in a full explanation the filters that judged by numbers; absent where none
    did. `chosen`: this candidate was planned, or picked among those near the best; absent elsewhere. `bill_unknown`:
    why there is no bill, `no_bandwidth`, `no_price` or `no_traffic`; absent where there is one.

        Attributes:
            rank (int):
            idc (str):
            lines (list[LineUse]):
            score (float):
            scores (CandidateScores):
            bill (Bill | None | Unset):
            bill_unknown (str | Unset):
            filters (list[Passed] | Unset):
            chosen (bool | Unset):
    """

    rank: int
    idc: str
    lines: list[LineUse]
    score: float
    scores: CandidateScores
    bill: Bill | None | Unset = UNSET
    bill_unknown: str | Unset = UNSET
    filters: list[Passed] | Unset = UNSET
    chosen: bool | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.bill import Bill

        rank = self.rank

        idc = self.idc

        lines = []
        for lines_item_data in self.lines:
            lines_item = lines_item_data.to_dict()
            lines.append(lines_item)

        score = self.score

        scores = self.scores.to_dict()

        bill: dict[str, Any] | None | Unset
        if isinstance(self.bill, Unset):
            bill = UNSET
        elif isinstance(self.bill, Bill):
            bill = self.bill.to_dict()
        else:
            bill = self.bill

        bill_unknown = self.bill_unknown

        filters: list[dict[str, Any]] | Unset = UNSET
        if not isinstance(self.filters, Unset):
            filters = []
            for filters_item_data in self.filters:
                filters_item = filters_item_data.to_dict()
                filters.append(filters_item)

        chosen = self.chosen

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "rank": rank,
                "idc": idc,
                "lines": lines,
                "score": score,
                "scores": scores,
            }
        )
        if bill is not UNSET:
            field_dict["bill"] = bill
        if bill_unknown is not UNSET:
            field_dict["bill_unknown"] = bill_unknown
        if filters is not UNSET:
            field_dict["filters"] = filters
        if chosen is not UNSET:
            field_dict["chosen"] = chosen

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.bill import Bill
        from ..models.candidate_scores import CandidateScores
        from ..models.line_use import LineUse
        from ..models.passed import Passed

        d = dict(src_dict)
        rank = d.pop("rank")

        idc = d.pop("idc")

        lines = []
        _lines = d.pop("lines")
        for lines_item_data in _lines:
            lines_item = LineUse.from_dict(lines_item_data)

            lines.append(lines_item)

        score = d.pop("score")

        scores = CandidateScores.from_dict(d.pop("scores"))

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

        _filters = d.pop("filters", UNSET)
        filters: list[Passed] | Unset = UNSET
        if _filters is not UNSET:
            filters = []
            for filters_item_data in _filters:
                filters_item = Passed.from_dict(filters_item_data)

                filters.append(filters_item)

        chosen = d.pop("chosen", UNSET)

        candidate = cls(
            rank=rank,
            idc=idc,
            lines=lines,
            score=score,
            scores=scores,
            bill=bill,
            bill_unknown=bill_unknown,
            filters=filters,
            chosen=chosen,
        )

        candidate.additional_properties = d
        return candidate

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
