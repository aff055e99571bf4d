from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.expression_operator import ExpressionOperator, check_expression_operator
from ..types import UNSET, Unset

T = TypeVar("T", bound="Expression")


@_attrs_define
class Expression:
    """One condition on one label.

    Attributes:
        key (str):
        operator (ExpressionOperator):
        values (list[str] | None | Unset):
    """

    key: str
    operator: ExpressionOperator
    values: list[str] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        key = self.key

        operator: str = self.operator

        values: list[str] | None | Unset
        if isinstance(self.values, Unset):
            values = UNSET
        elif isinstance(self.values, list):
            values = self.values

        else:
            values = self.values

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "key": key,
                "operator": operator,
            }
        )
        if values is not UNSET:
            field_dict["values"] = values

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)
        key = d.pop("key")

        operator = check_expression_operator(d.pop("operator"))

        def _parse_values(data: object) -> list[str] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                values_type_0 = cast(list[str], data)

                return values_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[str] | None | Unset, data)

        values = _parse_values(d.pop("values", UNSET))

        expression = cls(
            key=key,
            operator=operator,
            values=values,
        )

        return expression
