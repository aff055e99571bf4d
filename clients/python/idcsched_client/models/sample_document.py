from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="SampleDocument")


@_attrs_define
class SampleDocument:
    """One value; `at` defaults to now.

    Attributes:
        idc (str):
        metric (str):
        value (float):
        line (None | str | Unset):
        at (None | str | Unset):
    """

    idc: str
    metric: str
    value: float
    line: None | str | Unset = UNSET
    at: None | str | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        idc = self.idc

        metric = self.metric

        value = self.value

        line: None | str | Unset
        if isinstance(self.line, Unset):
            line = UNSET
        else:
            line = self.line

        at: None | str | Unset
        if isinstance(self.at, Unset):
            at = UNSET
        else:
            at = self.at

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "idc": idc,
                "metric": metric,
                "value": value,
            }
        )
        if line is not UNSET:
            field_dict["line"] = line
        if at is not UNSET:
            field_dict["at"] = at

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        idc = d.pop("idc")

        metric = d.pop("metric")

        value = d.pop("value")

        def _parse_line(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        line = _parse_line(d.pop("line", UNSET))

        def _parse_at(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        at = _parse_at(d.pop("at", UNSET))

        sample_document = cls(
            idc=idc,
            metric=metric,
            value=value,
            line=line,
            at=at,
        )

        return sample_document
