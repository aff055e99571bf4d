from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.flip import Flip


T = TypeVar("T", bound="Margin")


@_attrs_define
class Margin:
    """
    Attributes:
        runner_up (str):
        score (float):
        flips (list[Flip]):
    """

    runner_up: str
    score: float
    flips: list[Flip]
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        runner_up = self.runner_up

        score = self.score

        flips = []
        for flips_item_data in self.flips:
            flips_item = flips_item_data.to_dict()
            flips.append(flips_item)

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "runner_up": runner_up,
                "score": score,
                "flips": flips,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.flip import Flip

        d = dict(src_dict)
        runner_up = d.pop("runner_up")

        score = d.pop("score")

        flips = []
        _flips = d.pop("flips")
        for flips_item_data in _flips:
            flips_item = Flip.from_dict(flips_item_data)

            flips.append(flips_item)

        margin = cls(
            runner_up=runner_up,
            score=score,
            flips=flips,
        )

        margin.additional_properties = d
        return margin

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
