from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.hypothetical_idc import HypotheticalIdc
    from ..models.hypothetical_taint import HypotheticalTaint
    from ..models.ignored_taint import IgnoredTaint


T = TypeVar("T", bound="Hypothetical")


@_attrs_define
class Hypothetical:
    """
    Attributes:
        taints (list[HypotheticalTaint] | None | Unset):
        ignore_taints (list[IgnoredTaint] | None | Unset):
        idcs (list[HypotheticalIdc] | None | Unset):
    """

    taints: list[HypotheticalTaint] | None | Unset = UNSET
    ignore_taints: list[IgnoredTaint] | None | Unset = UNSET
    idcs: list[HypotheticalIdc] | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        taints: list[dict[str, Any]] | None | Unset
        if isinstance(self.taints, Unset):
            taints = UNSET
        elif isinstance(self.taints, list):
            taints = []
            for taints_type_0_item_data in self.taints:
                taints_type_0_item = taints_type_0_item_data.to_dict()
                taints.append(taints_type_0_item)

        else:
            taints = self.taints

        ignore_taints: list[dict[str, Any]] | None | Unset
        if isinstance(self.ignore_taints, Unset):
            ignore_taints = UNSET
        elif isinstance(self.ignore_taints, list):
            ignore_taints = []
            for ignore_taints_type_0_item_data in self.ignore_taints:
                ignore_taints_type_0_item = ignore_taints_type_0_item_data.to_dict()
                ignore_taints.append(ignore_taints_type_0_item)

        else:
            ignore_taints = self.ignore_taints

        idcs: list[dict[str, Any]] | None | Unset
        if isinstance(self.idcs, Unset):
            idcs = UNSET
        elif isinstance(self.idcs, list):
            idcs = []
            for idcs_type_0_item_data in self.idcs:
                idcs_type_0_item = idcs_type_0_item_data.to_dict()
                idcs.append(idcs_type_0_item)

        else:
            idcs = self.idcs

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if taints is not UNSET:
            field_dict["taints"] = taints
        if ignore_taints is not UNSET:
            field_dict["ignore_taints"] = ignore_taints
        if idcs is not UNSET:
            field_dict["idcs"] = idcs

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.hypothetical_idc import HypotheticalIdc
        from ..models.hypothetical_taint import HypotheticalTaint
        from ..models.ignored_taint import IgnoredTaint

        d = dict(src_dict)

        def _parse_taints(data: object) -> list[HypotheticalTaint] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                taints_type_0 = []
                _taints_type_0 = data
                for taints_type_0_item_data in _taints_type_0:
                    taints_type_0_item = HypotheticalTaint.from_dict(taints_type_0_item_data)

                    taints_type_0.append(taints_type_0_item)

                return taints_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[HypotheticalTaint] | None | Unset, data)

        taints = _parse_taints(d.pop("taints", UNSET))

        def _parse_ignore_taints(data: object) -> list[IgnoredTaint] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                ignore_taints_type_0 = []
                _ignore_taints_type_0 = data
                for ignore_taints_type_0_item_data in _ignore_taints_type_0:
                    ignore_taints_type_0_item = IgnoredTaint.from_dict(ignore_taints_type_0_item_data)

                    ignore_taints_type_0.append(ignore_taints_type_0_item)

                return ignore_taints_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[IgnoredTaint] | None | Unset, data)

        ignore_taints = _parse_ignore_taints(d.pop("ignore_taints", UNSET))

        def _parse_idcs(data: object) -> list[HypotheticalIdc] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                idcs_type_0 = []
                _idcs_type_0 = data
                for idcs_type_0_item_data in _idcs_type_0:
                    idcs_type_0_item = HypotheticalIdc.from_dict(idcs_type_0_item_data)

                    idcs_type_0.append(idcs_type_0_item)

                return idcs_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[HypotheticalIdc] | None | Unset, data)

        idcs = _parse_idcs(d.pop("idcs", UNSET))

        hypothetical = cls(
            taints=taints,
            ignore_taints=ignore_taints,
            idcs=idcs,
        )

        return hypothetical
