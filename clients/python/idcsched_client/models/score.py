from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

T = TypeVar("T", bound="Score")


@_attrs_define
class Score:
    """One scorer's steps from the raw value to the contribution. `missing`: what replaced a missing value; `range`: the
    lowest and the highest raw value that count, where the scale is fixed.

        Attributes:
            raw (float | None):
            normalized (float | None):
            weight (float):
            nominal_weight (float):
            contribution (float):
            age_seconds (float | None):
            missing (None | str):
            range_ (list[float] | Unset):
            note (str | Unset):
    """

    raw: float | None
    normalized: float | None
    weight: float
    nominal_weight: float
    contribution: float
    age_seconds: float | None
    missing: None | str
    range_: list[float] | Unset = UNSET
    note: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        raw: float | None
        raw = self.raw

        normalized: float | None
        normalized = self.normalized

        weight = self.weight

        nominal_weight = self.nominal_weight

        contribution = self.contribution

        age_seconds: float | None
        age_seconds = self.age_seconds

        missing: None | str
        missing = self.missing

        range_: list[float] | Unset = UNSET
        if not isinstance(self.range_, Unset):
            range_ = self.range_

        note = self.note

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "raw": raw,
                "normalized": normalized,
                "weight": weight,
                "nominal_weight": nominal_weight,
                "contribution": contribution,
                "age_seconds": age_seconds,
                "missing": missing,
            }
        )
        if range_ is not UNSET:
            field_dict["range"] = range_
        if note is not UNSET:
            field_dict["note"] = note

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_raw(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        raw = _parse_raw(d.pop("raw"))

        def _parse_normalized(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        normalized = _parse_normalized(d.pop("normalized"))

        weight = d.pop("weight")

        nominal_weight = d.pop("nominal_weight")

        contribution = d.pop("contribution")

        def _parse_age_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        age_seconds = _parse_age_seconds(d.pop("age_seconds"))

        def _parse_missing(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        missing = _parse_missing(d.pop("missing"))

        range_ = cast(list[float], d.pop("range", UNSET))

        note = d.pop("note", UNSET)

        score = cls(
            raw=raw,
            normalized=normalized,
            weight=weight,
            nominal_weight=nominal_weight,
            contribution=contribution,
            age_seconds=age_seconds,
            missing=missing,
            range_=range_,
            note=note,
        )

        score.additional_properties = d
        return score

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
