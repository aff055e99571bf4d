from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="Stale")


@_attrs_define
class Stale:
    """
    Attributes:
        idc (str):
        line (None | str):
        metric (str):
        age_seconds (float | None):
        used_as (str):
    """

    idc: str
    line: None | str
    metric: str
    age_seconds: float | None
    used_as: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        idc = self.idc

        line: None | str
        line = self.line

        metric = self.metric

        age_seconds: float | None
        age_seconds = self.age_seconds

        used_as = self.used_as

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "idc": idc,
                "line": line,
                "metric": metric,
                "age_seconds": age_seconds,
                "used_as": used_as,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        idc = d.pop("idc")

        def _parse_line(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        line = _parse_line(d.pop("line"))

        metric = d.pop("metric")

        def _parse_age_seconds(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        age_seconds = _parse_age_seconds(d.pop("age_seconds"))

        used_as = d.pop("used_as")

        stale = cls(
            idc=idc,
            line=line,
            metric=metric,
            age_seconds=age_seconds,
            used_as=used_as,
        )

        stale.additional_properties = d
        return stale

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
