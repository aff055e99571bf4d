from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self, TypeVar, cast

from attrs import define as _attrs_define

from ..types import UNSET, Unset

if TYPE_CHECKING:
    from ..models.machine_params_type_0 import MachineParamsType0


T = TypeVar("T", bound="Machine")


@_attrs_define
class Machine:
    """`count` machines of one shape; `spec`, `image`, `name` and `params` are for the provider.

    Attributes:
        count (int | None | Unset):
        bandwidth_mbps (float | None | Unset):
        cpu (float | None | Unset):
        memory_gib (float | None | Unset):
        disk_gib (float | None | Unset):
        gpu (float | None | Unset):
        spec (None | str | Unset):
        image (None | str | Unset):
        name (None | str | Unset):
        params (MachineParamsType0 | None | Unset):
    """

    count: int | None | Unset = UNSET
    bandwidth_mbps: float | None | Unset = UNSET
    cpu: float | None | Unset = UNSET
    memory_gib: float | None | Unset = UNSET
    disk_gib: float | None | Unset = UNSET
    gpu: float | None | Unset = UNSET
    spec: None | str | Unset = UNSET
    image: None | str | Unset = UNSET
    name: None | str | Unset = UNSET
    params: MachineParamsType0 | None | Unset = UNSET

    def to_dict(self) -> dict[str, Any]:
        from ..models.machine_params_type_0 import MachineParamsType0

        count: int | None | Unset
        if isinstance(self.count, Unset):
            count = UNSET
        else:
            count = self.count

        bandwidth_mbps: float | None | Unset
        if isinstance(self.bandwidth_mbps, Unset):
            bandwidth_mbps = UNSET
        else:
            bandwidth_mbps = self.bandwidth_mbps

        cpu: float | None | Unset
        if isinstance(self.cpu, Unset):
            cpu = UNSET
        else:
            cpu = self.cpu

        memory_gib: float | None | Unset
        if isinstance(self.memory_gib, Unset):
            memory_gib = UNSET
        else:
            memory_gib = self.memory_gib

        disk_gib: float | None | Unset
        if isinstance(self.disk_gib, Unset):
            disk_gib = UNSET
        else:
            disk_gib = self.disk_gib

        gpu: float | None | Unset
        if isinstance(self.gpu, Unset):
            gpu = UNSET
        else:
            gpu = self.gpu

        spec: None | str | Unset
        if isinstance(self.spec, Unset):
            spec = UNSET
        else:
            spec = self.spec

        image: None | str | Unset
        if isinstance(self.image, Unset):
            image = UNSET
        else:
            image = self.image

        name: None | str | Unset
        if isinstance(self.name, Unset):
            name = UNSET
        else:
            name = self.name

        params: dict[str, Any] | None | Unset
        if isinstance(self.params, Unset):
            params = UNSET
        elif isinstance(self.params, MachineParamsType0):
            params = self.params.to_dict()
        else:
            params = self.params

        field_dict: dict[str, Any] = {}

        field_dict.update({})
        if count is not UNSET:
            field_dict["count"] = count
        if bandwidth_mbps is not UNSET:
            field_dict["bandwidth_mbps"] = bandwidth_mbps
        if cpu is not UNSET:
            field_dict["cpu"] = cpu
        if memory_gib is not UNSET:
            field_dict["memory_gib"] = memory_gib
        if disk_gib is not UNSET:
            field_dict["disk_gib"] = disk_gib
        if gpu is not UNSET:
            field_dict["gpu"] = gpu
        if spec is not UNSET:
            field_dict["spec"] = spec
        if image is not UNSET:
            field_dict["image"] = image
        if name is not UNSET:
            field_dict["name"] = name
        if params is not UNSET:
            field_dict["params"] = params

        return field_dict

    @classmethod
    def from_dict(cls, src_dict: Mapping[str, Any]) -> Self:
        from ..models.machine_params_type_0 import MachineParamsType0

        d = dict(src_dict)

        def _parse_count(data: object) -> int | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(int | None | Unset, data)

        count = _parse_count(d.pop("count", UNSET))

        def _parse_bandwidth_mbps(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        bandwidth_mbps = _parse_bandwidth_mbps(d.pop("bandwidth_mbps", UNSET))

        def _parse_cpu(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        cpu = _parse_cpu(d.pop("cpu", UNSET))

        def _parse_memory_gib(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        memory_gib = _parse_memory_gib(d.pop("memory_gib", UNSET))

        def _parse_disk_gib(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        disk_gib = _parse_disk_gib(d.pop("disk_gib", UNSET))

        def _parse_gpu(data: object) -> float | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(float | None | Unset, data)

        gpu = _parse_gpu(d.pop("gpu", UNSET))

        def _parse_spec(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        spec = _parse_spec(d.pop("spec", UNSET))

        def _parse_image(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        image = _parse_image(d.pop("image", UNSET))

        def _parse_name(data: object) -> None | str | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            return cast(None | str | Unset, data)

        name = _parse_name(d.pop("name", UNSET))

        def _parse_params(data: object) -> MachineParamsType0 | None | Unset:
            if data is None:
                return data
            if isinstance(data, Unset):
                return data
            try:
                if not isinstance(data, dict):
                    raise TypeError()
                params_type_0 = MachineParamsType0.from_dict(data)

                return params_type_0
            except (TypeError, ValueError, AttributeError, KeyError):
                pass
            return cast(MachineParamsType0 | None | Unset, data)

        params = _parse_params(d.pop("params", UNSET))

        machine = cls(
            count=count,
            bandwidth_mbps=bandwidth_mbps,
            cpu=cpu,
            memory_gib=memory_gib,
            disk_gib=disk_gib,
            gpu=gpu,
            spec=spec,
            image=image,
            name=name,
            params=params,
        )

        return machine
