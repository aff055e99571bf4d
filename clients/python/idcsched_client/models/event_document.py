from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.event_document_detail import EventDocumentDetail


T = TypeVar("T", bound="EventDocument")


@_attrs_define
class EventDocument:
    """
    Attributes:
        version (int):
        at (str):
        move (str):
        state (str):
        actor (str):
        detail (EventDocumentDetail):
    """

    version: int
    at: str
    move: str
    state: str
    actor: str
    detail: EventDocumentDetail
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        version = self.version

        at = self.at

        move = self.move

        state = self.state

        actor = self.actor

        detail = self.detail.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "version": version,
                "at": at,
                "move": move,
                "state": state,
                "actor": actor,
                "detail": detail,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.event_document_detail import EventDocumentDetail

        d = dict(src_dict)
        version = d.pop("version")

        at = d.pop("at")

        move = d.pop("move")

        state = d.pop("state")

        actor = d.pop("actor")

        detail = EventDocumentDetail.from_dict(d.pop("detail"))

        event_document = cls(
            version=version,
            at=at,
            move=move,
            state=state,
            actor=actor,
            detail=detail,
        )

        event_document.additional_properties = d
        return event_document

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
