"""One decision through OpenStack Nova's own filter and weight handlers; runs in Nova's environment, not in ours.

    python nova_decides.py 10000      then, for every line read, one decision: its milliseconds are printed

Real Nova classes: HostState, HostFilterHandler, HostWeightHandler, every filter and weigher named below, RequestSpec,
Flavor and Aggregate objects. Left out, so that the figure is a floor for Nova: the Placement call, the refresh of
HostState from the cell databases, the claim, RPC. Nothing of Nova is stubbed or patched; hosts are filled in by hand
where Nova would read its database.
"""

import logging
import random
import sys
import time
import warnings

warnings.simplefilter("ignore")
logging.disable(logging.WARNING)  # a production nova-scheduler does not run at debug

import nova.conf
from nova import objects
from nova.scheduler import filters, weights
from nova.scheduler.host_manager import HostState, ReadOnlyDict
from oslo_utils import timeutils

# What stands closest to "available, taint, ISP and label, bandwidth, overload" and six scorers.
FILTERS = (
    "ComputeFilter",
    "AggregateMultiTenancyIsolation",
    "AggregateInstanceExtraSpecsFilter",
    "IoOpsFilter",
    "NumInstancesFilter",
)
WEIGHERS = (
    "RAMWeigher",
    "CPUWeigher",
    "DiskWeigher",
    "IoOpsWeigher",
    "NumInstancesWeigher",
    "BuildFailureWeigher",
)


def aggregates():
    """One aggregate per (ISP set, tier), and one for another tenant only, which is Nova's taint."""
    isps = ["ct", "cu", "cm", "ct,cu", "ct,cu,cm", "bgp"]
    groups = [
        objects.Aggregate(id=number, name=f"agg{number}", hosts=[], metadata={"isp": isp, "tier": tier})
        for number, (isp, tier) in enumerate((isp, tier) for isp in isps for tier in ("gold", "silver"))
    ]
    return groups, objects.Aggregate(
        id=99, name="other-tenant", hosts=[], metadata={"filter_tenant_id": "somebody-else"}
    )


def hosts(count, seed=7):
    rng = random.Random(seed)
    groups, tainted = aggregates()
    now = timeutils.utcnow(with_timezone=True)
    return [host(number, rng, groups, tainted, now) for number in range(count)]


def host(number, rng, groups, tainted, now):
    found = HostState(f"idc-{number:05d}", f"idc-{number:05d}", "cell-1")
    found.uuid = f"00000000-0000-0000-0000-{number:012d}"
    found.total_usable_ram_mb = 1024 * rng.choice([256, 512, 1024])
    found.free_ram_mb = int(found.total_usable_ram_mb * rng.random())
    found.total_usable_disk_gb = 10_000
    found.free_disk_mb = rng.randrange(0, 10_000 * 1024)
    found.vcpus_total = rng.choice([64, 128, 256])
    found.vcpus_used = rng.randrange(0, found.vcpus_total)
    found.cpu_allocation_ratio = 4.0
    found.ram_allocation_ratio = found.disk_allocation_ratio = 1.0
    found.num_instances = rng.randrange(0, 52)
    found.num_io_ops = rng.randrange(0, 9)
    found.failed_builds = rng.choice([0, 0, 0, 0, 1])
    found.hypervisor_type, found.hypervisor_version = "QEMU", rng.choice([8_000_000, 9_000_000])
    found.supported_instances = [["x86_64", "kvm", "hvm"]]
    found.cpu_info, found.stats, found.metrics = {}, {}, []
    down = rng.random() < 0.05
    found.service = ReadOnlyDict(
        {"disabled": down, "disabled_reason": None, "last_seen_up": now, "host": found.host, "binary": "x"}
    )
    found.aggregates = [rng.choice(groups)] + ([tainted] if rng.random() < 0.05 else [])
    return found


def request():
    wanted = {
        "aggregate_instance_extra_specs:isp": "<or> ct <or> bgp",
        "aggregate_instance_extra_specs:tier": "gold",
    }
    flavor = objects.Flavor(
        name="8c16g", memory_mb=16_384, vcpus=8, root_gb=100, ephemeral_gb=0, swap=0, extra_specs=wanted
    )
    nothing = (
        "instance_group",
        "requested_destination",
        "ignore_hosts",
        "force_hosts",
        "force_nodes",
        "pci_requests",
        "numa_topology",
    )
    return objects.RequestSpec(
        project_id="me",
        user_id="me",
        num_instances=1,
        flavor=flavor,
        instance_uuid="11111111-1111-1111-1111-111111111111",
        image=objects.ImageMeta(properties=objects.ImageMetaProps(hw_architecture="x86_64")),
        scheduler_hints={},
        **dict.fromkeys(nothing),
    )


def load(names, handler, package):
    classes = {found.__name__: found for found in handler.get_matching_classes([package])}
    return [classes[name]() for name in names]


def main(count):
    objects.register_all()
    nova.conf.CONF([], project="nova", default_config_files=[])
    filter_handler, weight_handler = filters.HostFilterHandler(), weights.HostWeightHandler()
    enabled = load(FILTERS, filter_handler, "nova.scheduler.filters.all_filters")
    weighers = load(WEIGHERS, weight_handler, "nova.scheduler.weights.all_weighers")
    candidates, spec = hosts(count), request()
    for _ in sys.stdin:
        started = time.perf_counter()
        passed = filter_handler.get_filtered_objects(enabled, candidates, spec)
        ranked = weight_handler.get_weighed_objects(weighers, passed, spec)
        took = time.perf_counter() - started
        if not ranked:
            sys.exit("no host was left")
        print(took * 1e3, flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]))
