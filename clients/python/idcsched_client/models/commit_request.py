from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.commit_request_action_type_0 import CommitRequestActionType0, check_commit_request_action_type_0
from ..types import UNSET, Unset

T = TypeVar("T", bound="CommitRequest")


@_attrs_define
class CommitRequest:
    """A recommendation that is to become a placement.

    Attributes:
        commit_token (str):
        action (CommitRequestActionType0 | None | Unset):
    """

    commit_token: str
    action: CommitRequestActionType0 | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        commit_token = self.commit_token

        action: None | str | Unset
        if isinstance(self.action, Unset):
            action = UNSET
        elif isinstance(self.action, str):
            action = self.action
        else:
            action = self.action

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "commit_token": commit_token,
            }
        )
        if action is not UNSET:
            field_dict["action"] = action

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        commit_token = d.pop("commit_token")

        def _parse_action(data: object) -> CommitRequestActionType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                action_type_0 = check_commit_request_action_type_0(data)

                return action_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(CommitRequestActionType0 | None | Unset, data)

        action = _parse_action(d.pop("action", UNSET))

        commit_request = cls(
            commit_token=commit_token,
            action=action,
        )

        return commit_request
