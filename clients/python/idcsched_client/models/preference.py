from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.expression import Expression
    from ..models.preference_match_labels_type_0 import PreferenceMatchLabelsType0


T = TypeVar("T", bound="Preference")


@_attrs_define
class Preference:
    """A term whose IDCs are preferred (weight > 0) or avoided (weight < 0).

    Attributes:
        weight (int):
        match_labels (None | PreferenceMatchLabelsType0 | Unset):
        match_expressions (list[Expression] | None | Unset):
    """

    weight: int
    match_labels: None | PreferenceMatchLabelsType0 | Unset = UNSET
    match_expressions: list[Expression] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.preference_match_labels_type_0 import PreferenceMatchLabelsType0

        weight = self.weight

        match_labels: dict[str, Any] | None | Unset
        if isinstance(self.match_labels, Unset):
            match_labels = UNSET
        elif isinstance(self.match_labels, PreferenceMatchLabelsType0):
            match_labels = self.match_labels.to_dict()
        else:
            match_labels = self.match_labels

        match_expressions: list[dict[str, Any]] | None | Unset
        if isinstance(self.match_expressions, Unset):
            match_expressions = UNSET
        elif isinstance(self.match_expressions, list):
            match_expressions = []
            for match_expressions_type_0_item_data in self.match_expressions:
                match_expressions_type_0_item = match_expressions_type_0_item_data.to_dict()
                match_expressions.append(match_expressions_type_0_item)

        else:
            match_expressions = self.match_expressions

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "weight": weight,
            }
        )
        if match_labels is not UNSET:
            field_dict["match_labels"] = match_labels
        if match_expressions is not UNSET:
            field_dict["match_expressions"] = match_expressions

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.expression import Expression
        from ..models.preference_match_labels_type_0 import PreferenceMatchLabelsType0

        d = dict(src_dict)
        weight = d.pop("weight")

        def _parse_match_labels(data: object) -> None | PreferenceMatchLabelsType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                match_labels_type_0 = PreferenceMatchLabelsType0.from_dict(data)

                return match_labels_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | PreferenceMatchLabelsType0 | Unset, data)

        match_labels = _parse_match_labels(d.pop("match_labels", UNSET))

        def _parse_match_expressions(data: object) -> list[Expression] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                match_expressions_type_0 = []
                _match_expressions_type_0 = data
                for match_expressions_type_0_item_data in _match_expressions_type_0:
                    match_expressions_type_0_item = Expression.from_dict(match_expressions_type_0_item_data)

                    match_expressions_type_0.append(match_expressions_type_0_item)

                return match_expressions_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[Expression] | None | Unset, data)

        match_expressions = _parse_match_expressions(d.pop("match_expressions", UNSET))

        preference = cls(
            weight=weight,
            match_labels=match_labels,
            match_expressions=match_expressions,
        )

        return preference
