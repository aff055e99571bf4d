from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define
from attrs import field as _attrs_field

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.attempt_document import AttemptDocument
    from ..models.bill import Bill
    from ..models.line_use import LineUse
    from ..models.machine_document import MachineDocument
    from ..models.waits_document import WaitsDocument


T = TypeVar("T", bound="PlacementDocument")


@_attrs_define
class PlacementDocument:
    """An order with the capacity that it holds. `held_back`: why a plugin's `permit` keeps it reserved; `bill`: what it
    adds to the bandwidth bill of a month, as it was decided; `replaces`: the placement that is released when this is
    confirmed; `waits`: null unless it waits.

        Attributes:
            id (str):
            request_id (None | str):
            tenant (str):
            state (str):
            needs_attention (bool):
            idc (None | str):
            lines (list[LineUse]):
            bill (Bill | None):
            group_id (None | str):
            due_to_leave (None | str):
            expires_at (None | str):
            machines (list[MachineDocument]):
            attempts (list[AttemptDocument]):
            decision_id (str):
            created_at (str):
            version (int):
            action (str):
            held_back (None | str):
            based_on (None | str):
            replaces (None | str):
            priority (int):
            waits (None | WaitsDocument):
            callback_url (None | str):
            bill_unknown (str | Unset):
    """

    id: str
    request_id: None | str
    tenant: str
    state: str
    needs_attention: bool
    idc: None | str
    lines: list[LineUse]
    bill: Bill | None
    group_id: None | str
    due_to_leave: None | str
    expires_at: None | str
    machines: list[MachineDocument]
    attempts: list[AttemptDocument]
    decision_id: str
    created_at: str
    version: int
    action: str
    held_back: None | str
    based_on: None | str
    replaces: None | str
    priority: int
    waits: None | WaitsDocument
    callback_url: None | str
    bill_unknown: str | Unset = UNSET
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        from ..models.bill import Bill
        from ..models.waits_document import WaitsDocument

        id = self.id

        request_id: None | str
        request_id = self.request_id

        tenant = self.tenant

        state = self.state

        needs_attention = self.needs_attention

        idc: None | str
        idc = self.idc

        lines = []
        for lines_item_data in self.lines:
            lines_item = lines_item_data.to_dict()
            lines.append(lines_item)

        bill: dict[str, Any] | None
        if isinstance(self.bill, Bill):
            bill = self.bill.to_dict()
        else:
            bill = self.bill

        group_id: None | str
        group_id = self.group_id

        due_to_leave: None | str
        due_to_leave = self.due_to_leave

        expires_at: None | str
        expires_at = self.expires_at

        machines = []
        for machines_item_data in self.machines:
            machines_item = machines_item_data.to_dict()
            machines.append(machines_item)

        attempts = []
        for attempts_item_data in self.attempts:
            attempts_item = attempts_item_data.to_dict()
            attempts.append(attempts_item)

        decision_id = self.decision_id

        created_at = self.created_at

        version = self.version

        action = self.action

        held_back: None | str
        held_back = self.held_back

        based_on: None | str
        based_on = self.based_on

        replaces: None | str
        replaces = self.replaces

        priority = self.priority

        waits: dict[str, Any] | None
        if isinstance(self.waits, WaitsDocument):
            waits = self.waits.to_dict()
        else:
            waits = self.waits

        callback_url: None | str
        callback_url = self.callback_url

        bill_unknown = self.bill_unknown

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "id": id,
                "request_id": request_id,
                "tenant": tenant,
                "state": state,
                "needs_attention": needs_attention,
                "idc": idc,
                "lines": lines,
                "bill": bill,
                "group_id": group_id,
                "due_to_leave": due_to_leave,
                "expires_at": expires_at,
                "machines": machines,
                "attempts": attempts,
                "decision_id": decision_id,
                "created_at": created_at,
                "version": version,
                "action": action,
                "held_back": held_back,
                "based_on": based_on,
                "replaces": replaces,
                "priority": priority,
                "waits": waits,
                "callback_url": callback_url,
            }
        )
        if bill_unknown is not UNSET:
            field_dict["bill_unknown"] = bill_unknown

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.attempt_document import AttemptDocument
        from ..models.bill import Bill
        from ..models.line_use import LineUse
        from ..models.machine_document import MachineDocument
        from ..models.waits_document import WaitsDocument

        d = dict(src_dict)
        id = d.pop("id")

        def _parse_request_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        request_id = _parse_request_id(d.pop("request_id"))

        tenant = d.pop("tenant")

        state = d.pop("state")

        needs_attention = d.pop("needs_attention")

        def _parse_idc(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        idc = _parse_idc(d.pop("idc"))

        lines = []
        _lines = d.pop("lines")
        for lines_item_data in _lines:
            lines_item = LineUse.from_dict(lines_item_data)

            lines.append(lines_item)

        def _parse_bill(data: object) -> Bill | None:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                bill_type_0 = Bill.from_dict(data)

                return bill_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(Bill | None, data)

        bill = _parse_bill(d.pop("bill"))

        def _parse_group_id(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        group_id = _parse_group_id(d.pop("group_id"))

        def _parse_due_to_leave(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        due_to_leave = _parse_due_to_leave(d.pop("due_to_leave"))

        def _parse_expires_at(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        expires_at = _parse_expires_at(d.pop("expires_at"))

        machines = []
        _machines = d.pop("machines")
        for machines_item_data in _machines:
            machines_item = MachineDocument.from_dict(machines_item_data)

            machines.append(machines_item)

        attempts = []
        _attempts = d.pop("attempts")
        for attempts_item_data in _attempts:
            attempts_item = AttemptDocument.from_dict(attempts_item_data)

            attempts.append(attempts_item)

        decision_id = d.pop("decision_id")

        created_at = d.pop("created_at")

        version = d.pop("version")

        action = d.pop("action")

        def _parse_held_back(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        held_back = _parse_held_back(d.pop("held_back"))

        def _parse_based_on(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        based_on = _parse_based_on(d.pop("based_on"))

        def _parse_replaces(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        replaces = _parse_replaces(d.pop("replaces"))

        priority = d.pop("priority")

        def _parse_waits(data: object) -> None | WaitsDocument:
            if data is None:
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                waits_type_0 = WaitsDocument.from_dict(data)

                return waits_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | WaitsDocument, data)

        waits = _parse_waits(d.pop("waits"))

        def _parse_callback_url(data: object) -> None | str:
            if data is None:
                return data
            return cast(None | str, data)

        callback_url = _parse_callback_url(d.pop("callback_url"))

        bill_unknown = d.pop("bill_unknown", UNSET)

        placement_document = cls(
            id=id,
            request_id=request_id,
            tenant=tenant,
            state=state,
            needs_attention=needs_attention,
            idc=idc,
            lines=lines,
            bill=bill,
            group_id=group_id,
            due_to_leave=due_to_leave,
            expires_at=expires_at,
            machines=machines,
            attempts=attempts,
            decision_id=decision_id,
            created_at=created_at,
            version=version,
            action=action,
            held_back=held_back,
            based_on=based_on,
            replaces=replaces,
            priority=priority,
            waits=waits,
            callback_url=callback_url,
            bill_unknown=bill_unknown,
        )

        placement_document.additional_properties = d
        return placement_document

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
