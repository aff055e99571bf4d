from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

T = TypeVar("T", bound="DestinationRequest")


@_attrs_define
class DestinationRequest:
    """Where a placement is to go: an IDC, and the lines that are used there; without `lines` the profile chooses.

    `saves_at_least`: what the move must save a month, else it is refused; `ttl_seconds`: for how long the new place is
    held until it is confirmed.

        Attributes:
            idc (str):
            lines (list[str] | None | Unset):
            saves_at_least (float | None | Unset):
            ttl_seconds (int | None | Unset):
    """

    idc: str
    lines: list[str] | None | Unset = UNSET
    saves_at_least: float | None | Unset = UNSET
    ttl_seconds: int | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        idc = self.idc

        lines: list[str] | None | Unset
        if isinstance(self.lines, Unset):
            lines = UNSET
        elif isinstance(self.lines, list):
            lines = self.lines

        else:
            lines = self.lines

        saves_at_least: float | None | Unset
        if isinstance(self.saves_at_least, Unset):
            saves_at_least = UNSET
        else:
            saves_at_least = self.saves_at_least

        ttl_seconds: int | None | Unset
        if isinstance(self.ttl_seconds, Unset):
            ttl_seconds = UNSET
        else:
            ttl_seconds = self.ttl_seconds

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "idc": idc,
            }
        )
        if lines is not UNSET:
            field_dict["lines"] = lines
        if saves_at_least is not UNSET:
            field_dict["saves_at_least"] = saves_at_least
        if ttl_seconds is not UNSET:
            field_dict["ttl_seconds"] = ttl_seconds

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

        def _parse_saves_at_least(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        saves_at_least = _parse_saves_at_least(d.pop("saves_at_least", UNSET))

        def _parse_ttl_seconds(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        ttl_seconds = _parse_ttl_seconds(d.pop("ttl_seconds", UNSET))

        destination_request = cls(
            idc=idc,
            lines=lines,
            saves_at_least=saves_at_least,
            ttl_seconds=ttl_seconds,
        )

        return destination_request
