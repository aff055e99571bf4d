from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="Planned")


@_attrs_define
class Planned:
    """The IDC that is taken if it passes all filters, and the lines that are used there if they carry the bandwidth.

    The ranking remains as it is; where the IDC does not fit, it decides.

        Attributes:
            idc (str):
            lines (list[str] | None | Unset):
    """

    idc: str
    lines: list[str] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        idc = self.idc

        lines: list[str] | None | Unset
        if isinstance(self.lines, Unset):
            lines = UNSET
        elif isinstance(self.lines, list):
            lines = self.lines

        else:
            lines = self.lines

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "idc": idc,
            }
        )
        if lines is not UNSET:
            field_dict["lines"] = lines

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        idc = d.pop("idc")

        def _parse_lines(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                lines_type_0 = cast(list[str], data)

                return lines_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        lines = _parse_lines(d.pop("lines", UNSET))

        planned = cls(
            idc=idc,
            lines=lines,
        )

        return planned
