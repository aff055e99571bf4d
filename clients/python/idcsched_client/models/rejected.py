from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.rejected_detail import RejectedDetail


T = TypeVar("T", bound="Rejected")


@_attrs_define
class Rejected:
    """One IDC that was rejected. `also`: the other plugins that would have rejected the IDC too.

    Attributes:
        idc (str):
        plugin (str):
        code (str):
        reason (str):
        detail (RejectedDetail):
        also (list[str]):
    """

    idc: str
    plugin: str
    code: str
    reason: str
    detail: RejectedDetail
    also: list[str]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        idc = self.idc

        plugin = self.plugin

        code = self.code

        reason = self.reason

        detail = self.detail.to_dict()

        also = self.also

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "idc": idc,
                "plugin": plugin,
                "code": code,
                "reason": reason,
                "detail": detail,
                "also": also,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.rejected_detail import RejectedDetail

        d = dict(src_dict)
        idc = d.pop("idc")

        plugin = d.pop("plugin")

        code = d.pop("code")

        reason = d.pop("reason")

        detail = RejectedDetail.from_dict(d.pop("detail"))

        also = cast(list[str], d.pop("also"))

        rejected = cls(
            idc=idc,
            plugin=plugin,
            code=code,
            reason=reason,
            detail=detail,
            also=also,
        )

        rejected.additional_properties = d
        return rejected

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
