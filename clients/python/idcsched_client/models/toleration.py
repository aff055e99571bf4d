from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.toleration_effect_type_0 import TolerationEffectType0, check_toleration_effect_type_0
from ..models.toleration_effect_type_1 import TolerationEffectType1, check_toleration_effect_type_1
from ..models.toleration_operator_type_0 import TolerationOperatorType0, check_toleration_operator_type_0
from ..types import UNSET, Unset

T = TypeVar("T", bound="Toleration")


@_attrs_define
class Toleration:
    """The taints that a request tolerates. No effect: every effect; no key (with `Exists`): every key.

    Attributes:
        key (None | str | Unset):
        operator (None | TolerationOperatorType0 | Unset):
        value (None | str | Unset):
        effect (None | TolerationEffectType0 | TolerationEffectType1 | Unset):
    """

    key: None | str | Unset = UNSET
    operator: None | TolerationOperatorType0 | Unset = UNSET
    value: None | str | Unset = UNSET
    effect: None | TolerationEffectType0 | TolerationEffectType1 | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        key: None | str | Unset
        if isinstance(self.key, Unset):
            key = UNSET
        else:
            key = self.key

        operator: None | str | Unset
        if isinstance(self.operator, Unset):
            operator = UNSET
        elif isinstance(self.operator, str):
            operator = self.operator
        else:
            operator = self.operator

        value: None | str | Unset
        if isinstance(self.value, Unset):
            value = UNSET
        else:
            value = self.value

        effect: None | str | Unset
        if isinstance(self.effect, Unset):
            effect = UNSET
        elif isinstance(self.effect, str) or isinstance(self.effect, str):
            effect = self.effect
        else:
            effect = self.effect

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if key is not UNSET:
            field_dict["key"] = key
        if operator is not UNSET:
            field_dict["operator"] = operator
        if value is not UNSET:
            field_dict["value"] = value
        if effect is not UNSET:
            field_dict["effect"] = effect

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        d = dict(src_dict)

        def _parse_key(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        key = _parse_key(d.pop("key", UNSET))

        def _parse_operator(data: object) -> None | TolerationOperatorType0 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                operator_type_0 = check_toleration_operator_type_0(data)

                return operator_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TolerationOperatorType0 | Unset, data)

        operator = _parse_operator(d.pop("operator", UNSET))

        def _parse_value(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        value = _parse_value(d.pop("value", UNSET))

        def _parse_effect(data: object) -> None | TolerationEffectType0 | TolerationEffectType1 | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                effect_type_0 = check_toleration_effect_type_0(data)

                return effect_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            try:
                if not isinstance(data, str):
                    raise TypeError()
                effect_type_1 = check_toleration_effect_type_1(data)

                return effect_type_1
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(None | TolerationEffectType0 | TolerationEffectType1 | Unset, data)

        effect = _parse_effect(d.pop("effect", UNSET))

        toleration = cls(
            key=key,
            operator=operator,
            value=value,
            effect=effect,
        )

        return toleration
