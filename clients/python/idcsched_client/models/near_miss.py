from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

T = TypeVar("T", bound="NearMiss")


@_attrs_define
class NearMiss:
    """
    Attributes:
        idc (str):
        plugin (str):
        code (str):
        need (float | None):
        free (float | None):
        short_by (float | None):
        reason (str):
    """

    idc: str
    plugin: str
    code: str
    need: float | None
    free: float | None
    short_by: float | None
    reason: str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        idc = self.idc

        plugin = self.plugin

        code = self.code

        need: float | None
        need = self.need

        free: float | None
        free = self.free

        short_by: float | None
        short_by = self.short_by

        reason = self.reason

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "idc": idc,
                "plugin": plugin,
                "code": code,
                "need": need,
                "free": free,
                "short_by": short_by,
                "reason": reason,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        idc = d.pop("idc")

        plugin = d.pop("plugin")

        code = d.pop("code")

        def _parse_need(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        need = _parse_need(d.pop("need"))

        def _parse_free(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        free = _parse_free(d.pop("free"))

        def _parse_short_by(data: object) -> float | None:
            if data is None:
                return data
            return cast(float | None, data)

        short_by = _parse_short_by(d.pop("short_by"))

        reason = d.pop("reason")

        near_miss = cls(
            idc=idc,
            plugin=plugin,
            code=code,
            need=need,
            free=free,
            short_by=short_by,
            reason=reason,
        )

        near_miss.additional_properties = d
        return near_miss

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
