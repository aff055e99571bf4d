from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.spread_by_type_0 import SpreadByType0, check_spread_by_type_0
from ..types import UNSET, Unset

T = TypeVar("T", bound="Spread")


@_attrs_define
class Spread:
    """How to split the machines: at most `max_per_idc` in one IDC, and over at least `min_idcs` IDCs.

    `by` makes both count regions or providers instead of IDCs.

        Attributes:
            max_per_idc (int | None | Unset):
            min_idcs (int | None | Unset):
            by (None | SpreadByType0 | Unset):
    """

    max_per_idc: int | None | Unset = UNSET
    min_idcs: int | None | Unset = UNSET
    by: None | SpreadByType0 | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        max_per_idc: int | None | Unset
        if isinstance(self.max_per_idc, Unset):
            max_per_idc = UNSET
        else:
            max_per_idc = self.max_per_idc

        min_idcs: int | None | Unset
        if isinstance(self.min_idcs, Unset):
            min_idcs = UNSET
        else:
            min_idcs = self.min_idcs

        by: None | str | Unset
        if isinstance(self.by, Unset):
            by = UNSET
        elif isinstance(self.by, str):
            by = self.by
        else:
            by = self.by

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if max_per_idc is not UNSET:
            field_dict["max_per_idc"] = max_per_idc
        if min_idcs is not UNSET:
            field_dict["min_idcs"] = min_idcs
        if by is not UNSET:
            field_dict["by"] = by

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_max_per_idc(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        max_per_idc = _parse_max_per_idc(d.pop("max_per_idc", UNSET))

        def _parse_min_idcs(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        min_idcs = _parse_min_idcs(d.pop("min_idcs", UNSET))

        def _parse_by(data: object) -> None | SpreadByType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                by_type_0 = check_spread_by_type_0(data)

                return by_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | SpreadByType0 | Unset, data)

        by = _parse_by(d.pop("by", UNSET))

        spread = cls(
            max_per_idc=max_per_idc,
            min_idcs=min_idcs,
            by=by,
        )

        return spread
