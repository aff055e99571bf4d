from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.lacks_document import LacksDocument


T = TypeVar("T", bound="WaitsDocument")


@_attrs_define
class WaitsDocument:
    """What an order waits for, as of the last try. `cures`: the kinds of change after which it is tried at once;
    `lacks`: null where several plugins reject each IDC, or the order asked for no explanation.

        Attributes:
            lacks (LacksDocument | None):
            cures (list[str]):
            tried_at (None | str):
            next_try_at (None | str):
    """

    lacks: LacksDocument | None
    cures: list[str]
    tried_at: None | str
    next_try_at: None | str
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.lacks_document import LacksDocument

        lacks: dict[str, Any] | None
        if isinstance(self.lacks, LacksDocument):
            lacks = self.lacks.to_dict()
        else:
            lacks = self.lacks

        cures = self.cures

        tried_at: None | str
        tried_at = self.tried_at

        next_try_at: None | str
        next_try_at = self.next_try_at

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "lacks": lacks,
                "cures": cures,
                "tried_at": tried_at,
                "next_try_at": next_try_at,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.lacks_document import LacksDocument

        d = dict(src_dict)

        def _parse_lacks(data: object) -> LacksDocument | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                lacks_type_0 = LacksDocument.from_dict(data)

                return lacks_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(LacksDocument | None, data)

        lacks = _parse_lacks(d.pop("lacks"))

        cures = cast(list[str], d.pop("cures"))

        def _parse_tried_at(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        tried_at = _parse_tried_at(d.pop("tried_at"))

        def _parse_next_try_at(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        next_try_at = _parse_next_try_at(d.pop("next_try_at"))

        waits_document = cls(
            lacks=lacks,
            cures=cures,
            tried_at=tried_at,
            next_try_at=next_try_at,
        )

        waits_document.additional_properties = d
        return waits_document

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
