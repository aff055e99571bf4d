from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.lacks_document_detail import LacksDocumentDetail


T = TypeVar("T", bound="LacksDocument")


@_attrs_define
class LacksDocument:
    """The IDC where a waiting order lacks the least, and the code and the `detail` of its rejection.

    Attributes:
        idc (str):
        code (str):
        detail (LacksDocumentDetail):
    """

    idc: str
    code: str
    detail: LacksDocumentDetail
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        idc = self.idc

        code = self.code

        detail = self.detail.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "idc": idc,
                "code": code,
                "detail": detail,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.lacks_document_detail import LacksDocumentDetail

        d = dict(src_dict)
        idc = d.pop("idc")

        code = d.pop("code")

        detail = LacksDocumentDetail.from_dict(d.pop("detail"))

        lacks_document = cls(
            idc=idc,
            code=code,
            detail=detail,
        )

        lacks_document.additional_properties = d
        return lacks_document

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
