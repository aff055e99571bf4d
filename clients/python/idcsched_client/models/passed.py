from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar

from attrs import define as _attrs_define
from attrs import field as _attrs_field

if TYPE_CHECKING:
    from ..models.passed_figures import PassedFigures


T = TypeVar("T", bound="Passed")


@_attrs_define
class Passed:
    """A filter that let the IDC pass, and the numbers that it judged by.

    Attributes:
        plugin (str):
        figures (PassedFigures):
    """

    plugin: str
    figures: PassedFigures
    additional_properties: dict[str, Any] = _attrs_field(init=False, factory=dict)

    def to_dict(self) -> dict[str, Any]:
        plugin = self.plugin

        figures = self.figures.to_dict()

        field_dict: dict[str, Any] = {}
        field_dict.update(self.additional_properties)
        field_dict.update(
            {
                "plugin": plugin,
                "figures": figures,
            }
        )

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.passed_figures import PassedFigures

        d = dict(src_dict)
        plugin = d.pop("plugin")

        figures = PassedFigures.from_dict(d.pop("figures"))

        passed = cls(
            plugin=plugin,
            figures=figures,
        )

        passed.additional_properties = d
        return passed

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
