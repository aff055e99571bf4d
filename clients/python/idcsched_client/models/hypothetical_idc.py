from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..models.hypothetical_idc_status_type_0 import HypotheticalIdcStatusType0, check_hypothetical_idc_status_type_0
from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.hypothetical_idc_metrics_type_0 import HypotheticalIdcMetricsType0
    from ..models.hypothetical_line import HypotheticalLine


T = TypeVar("T", bound="HypotheticalIdc")


@_attrs_define
class HypotheticalIdc:
    """What is supposed of one IDC; a metric of null counts as missing.

    Attributes:
        code (str):
        status (HypotheticalIdcStatusType0 | None | Unset):
        lines (list[HypotheticalLine] | None | Unset):
        metrics (HypotheticalIdcMetricsType0 | None | Unset):
    """

    code: str
    status: HypotheticalIdcStatusType0 | None | Unset = UNSET
    lines: list[HypotheticalLine] | None | Unset = UNSET
    metrics: HypotheticalIdcMetricsType0 | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.hypothetical_idc_metrics_type_0 import HypotheticalIdcMetricsType0

        code = self.code

        status: None | str | Unset
        if isinstance(self.status, Unset):
            status = UNSET
        elif isinstance(self.status, str):
            status = self.status
        else:
            status = self.status

        lines: list[dict[str, Any]] | None | Unset
        if isinstance(self.lines, Unset):
            lines = UNSET
        elif isinstance(self.lines, list):
            lines = []
            for lines_type_0_item_data in self.lines:
                lines_type_0_item = lines_type_0_item_data.to_dict()
                lines.append(lines_type_0_item)

        else:
            lines = self.lines

        metrics: dict[str, Any] | None | Unset
        if isinstance(self.metrics, Unset):
            metrics = UNSET
        elif isinstance(self.metrics, HypotheticalIdcMetricsType0):
            metrics = self.metrics.to_dict()
        else:
            metrics = self.metrics

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "code": code,
            }
        )
        if status is not UNSET:
            field_dict["status"] = status
        if lines is not UNSET:
            field_dict["lines"] = lines
        if metrics is not UNSET:
            field_dict["metrics"] = metrics

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.hypothetical_idc_metrics_type_0 import HypotheticalIdcMetricsType0
        from ..models.hypothetical_line import HypotheticalLine

        d = dict(src_dict)
        code = d.pop("code")

        def _parse_status(data: object) -> HypotheticalIdcStatusType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, str):
                    raise TypeError()
                status_type_0 = check_hypothetical_idc_status_type_0(data)

                return status_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(HypotheticalIdcStatusType0 | None | Unset, data)

        status = _parse_status(d.pop("status", UNSET))

        def _parse_lines(data: object) -> list[HypotheticalLine] | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, list):
                    raise TypeError()
                lines_type_0 = []
                _lines_type_0 = data
                for lines_type_0_item_data in _lines_type_0:
                    lines_type_0_item = HypotheticalLine.from_dict(lines_type_0_item_data)

                    lines_type_0.append(lines_type_0_item)

                return lines_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(list[HypotheticalLine] | None | Unset, data)

        lines = _parse_lines(d.pop("lines", UNSET))

        def _parse_metrics(data: object) -> HypotheticalIdcMetricsType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metrics_type_0 = HypotheticalIdcMetricsType0.from_dict(data)

                return metrics_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(HypotheticalIdcMetricsType0 | None | Unset, data)

        metrics = _parse_metrics(d.pop("metrics", UNSET))

        hypothetical_idc = cls(
            code=code,
            status=status,
            lines=lines,
            metrics=metrics,
        )

        return hypothetical_idc
