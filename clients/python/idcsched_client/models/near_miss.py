from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.near_miss_detail import NearMissDetail


T = TypeVar("T", bound="NearMiss")


@_attrs_define
class NearMiss:
    """An IDC that only one plugin rejects. `cures`: the kinds of change that may let it pass, as the plugin's reason
    names them; `detail` as in a rejection.

        Attributes:
            idc (str):
            plugin (str):
            code (str):
            need (float | None):
            free (float | None):
            short_by (float | None):
            reason (str):
            cures (list[str] | Unset):
            detail (NearMissDetail | Unset):
    """

    idc: str
    plugin: str
    code: str
    need: float | None
    free: float | None
    short_by: float | None
    reason: str
    cures: list[str] | Unset = UNSET
    detail: NearMissDetail | Unset = UNSET
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

        cures: list[str] | Unset = UNSET
        if not isinstance(self.cures, Unset):
            cures = self.cures

        detail: dict[str, Any] | Unset = UNSET
        if not isinstance(self.detail, Unset):
            detail = self.detail.to_dict()

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
        if cures is not UNSET:
            field_dict["cures"] = cures
        if detail is not UNSET:
            field_dict["detail"] = detail

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.near_miss_detail import NearMissDetail

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

        cures = cast(list[str], d.pop("cures", UNSET))

        _detail = d.pop("detail", UNSET)
        detail: NearMissDetail | Unset
        if isinstance(_detail, Unset):
            detail = UNSET
        else:
            detail = NearMissDetail.from_dict(_detail)

        near_miss = cls(
            idc=idc,
            plugin=plugin,
            code=code,
            need=need,
            free=free,
            short_by=short_by,
            reason=reason,
            cures=cures,
            detail=detail,
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
