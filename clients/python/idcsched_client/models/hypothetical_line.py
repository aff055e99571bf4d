from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.hypothetical_line_metrics_type_0 import HypotheticalLineMetricsType0


T = TypeVar("T", bound="HypotheticalLine")


@_attrs_define
class HypotheticalLine:
    """What is supposed of one line; without a field that stays as it is. A commit or price of null: there is none.

    Attributes:
        line (str):
        purchased_mbps (float | None | Unset):
        commit_mbps (float | None | Unset):
        max_level (float | None | Unset):
        price_per_mbps (float | None | Unset):
        price_per_gb (float | None | Unset):
        metrics (HypotheticalLineMetricsType0 | None | Unset):
    """

    line: str
    purchased_mbps: float | None | Unset = UNSET
    commit_mbps: float | None | Unset = UNSET
    max_level: float | None | Unset = UNSET
    price_per_mbps: float | None | Unset = UNSET
    price_per_gb: float | None | Unset = UNSET
    metrics: HypotheticalLineMetricsType0 | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.hypothetical_line_metrics_type_0 import HypotheticalLineMetricsType0

        line = self.line

        purchased_mbps: float | None | Unset
        if isinstance(self.purchased_mbps, Unset):
            purchased_mbps = UNSET
        else:
            purchased_mbps = self.purchased_mbps

        commit_mbps: float | None | Unset
        if isinstance(self.commit_mbps, Unset):
            commit_mbps = UNSET
        else:
            commit_mbps = self.commit_mbps

        max_level: float | None | Unset
        if isinstance(self.max_level, Unset):
            max_level = UNSET
        else:
            max_level = self.max_level

        price_per_mbps: float | None | Unset
        if isinstance(self.price_per_mbps, Unset):
            price_per_mbps = UNSET
        else:
            price_per_mbps = self.price_per_mbps

        price_per_gb: float | None | Unset
        if isinstance(self.price_per_gb, Unset):
            price_per_gb = UNSET
        else:
            price_per_gb = self.price_per_gb

        metrics: dict[str, Any] | None | Unset
        if isinstance(self.metrics, Unset):
            metrics = UNSET
        elif isinstance(self.metrics, HypotheticalLineMetricsType0):
            metrics = self.metrics.to_dict()
        else:
            metrics = self.metrics

        field_dict: dict[str, Any] = {}

        field_dict.update(
            {
                "line": line,
            }
        )
        if purchased_mbps is not UNSET:
            field_dict["purchased_mbps"] = purchased_mbps
        if commit_mbps is not UNSET:
            field_dict["commit_mbps"] = commit_mbps
        if max_level is not UNSET:
            field_dict["max_level"] = max_level
        if price_per_mbps is not UNSET:
            field_dict["price_per_mbps"] = price_per_mbps
        if price_per_gb is not UNSET:
            field_dict["price_per_gb"] = price_per_gb
        if metrics is not UNSET:
            field_dict["metrics"] = metrics

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.hypothetical_line_metrics_type_0 import HypotheticalLineMetricsType0

        d = dict(src_dict)
        line = d.pop("line")

        def _parse_purchased_mbps(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        purchased_mbps = _parse_purchased_mbps(d.pop("purchased_mbps", UNSET))

        def _parse_commit_mbps(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        commit_mbps = _parse_commit_mbps(d.pop("commit_mbps", UNSET))

        def _parse_max_level(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        max_level = _parse_max_level(d.pop("max_level", UNSET))

        def _parse_price_per_mbps(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        price_per_mbps = _parse_price_per_mbps(d.pop("price_per_mbps", UNSET))

        def _parse_price_per_gb(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        price_per_gb = _parse_price_per_gb(d.pop("price_per_gb", UNSET))

        def _parse_metrics(data: object) -> HypotheticalLineMetricsType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                metrics_type_0 = HypotheticalLineMetricsType0.from_dict(data)

                return metrics_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(HypotheticalLineMetricsType0 | None | Unset, data)

        metrics = _parse_metrics(d.pop("metrics", UNSET))

        hypothetical_line = cls(
            line=line,
            purchased_mbps=purchased_mbps,
            commit_mbps=commit_mbps,
            max_level=max_level,
            price_per_mbps=price_per_mbps,
            price_per_gb=price_per_gb,
            metrics=metrics,
        )

        return hypothetical_line
