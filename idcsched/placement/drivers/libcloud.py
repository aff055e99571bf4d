"""`libcloud`: servers of EC2 and of whatever speaks its language, driven by Apache Libcloud."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from types import MappingProxyType
from typing import Annotated, Any
from urllib.parse import urlsplit
from xml.etree.ElementTree import Element

import msgspec
from libcloud.common.exceptions import BaseHTTPError
from libcloud.common.types import LibcloudError
from libcloud.compute.base import Node, NodeImage, NodeSize
from libcloud.compute.drivers.ec2 import NAMESPACE, EC2Connection, EC2NodeDriver, EC2Response
from libcloud.compute.types import NodeState

from idcsched.framework.errors import FieldError, Unavailable
from idcsched.framework.messages import _
from idcsched.placement.driver import Call, Condition, Existing, NotHere, Wanted
from idcsched.placement.libcloud_driver import (
    MARK,
    Cloud,
    CloudConfig,
    NoSuchMachine,
    Size,
    Text,
    marks,
    refused,
    secret_of,
)
from idcsched.placement.libcloud_transport import Transport

__all__ = ["Libcloud"]

CONDITIONS: Mapping[str, Condition] = MappingProxyType(
    {
        "pending": Condition.STARTING,
        "running": Condition.UP,
        "stopping": Condition.BROKEN,
        "stopped": Condition.BROKEN,
        "shutting-down": Condition.GOING,
    }
)
"""What is `terminated` is gone, though it is listed for a while."""
GONE = "terminated"
FOR_GOOD = (
    "InstanceLimitExceeded",
    "InsufficientInstanceCapacity",
    "InvalidAMIID",
    "InvalidGroup.NotFound",
    "InvalidKeyPair.NotFound",
    "InvalidParameter",
    "InvalidSubnetID",
    "Unsupported",
    "UnauthorizedOperation",
    "VcpuLimitExceeded",
)
"""What these errors begin with will not be otherwise in a moment."""

UNKNOWN_ID = "InvalidInstanceID"


class LibcloudConfig(CloudConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the servers are. The secret is the secret access key.

    A machine's `spec` is its instance type, else it is the first of `sizes` that holds it; `image` stands for what
    an order leaves out. An order's `params` may say `userdata` and `keyname`.
    """

    access_key: Text
    region: Text = "us-east-1"
    """By which requests are signed."""
    sizes: Annotated[tuple[Size, ...], msgspec.Meta(max_length=200)] = ()


class Libcloud(Cloud):
    """A cloud that speaks EC2's language, by way of Apache Libcloud."""

    kind = "libcloud"
    Config = LibcloudConfig
    config: LibcloudConfig

    @property
    def sizes(self) -> Sequence[Size]:
        return self.config.sizes

    def check(self) -> Sequence[FieldError]:
        if errors := super().check():
            return errors
        if self.config.region not in EC2NodeDriver.list_regions():
            return [
                FieldError("/region", "unknown_region", _("there is no region {code}"), {"code": self.config.region})
            ]
        return []

    def create(self, call: Call, wanted: Wanted) -> Existing:
        ordered = self.ordered(wanted)
        options = {
            "ex_keyname": ordered.keyname,
            "ex_userdata": ordered.userdata,
            "ex_security_groups": list(self.config.security_groups) or None,
        }
        cloud = self._cloud(call)
        with _understood():
            node = cloud.create_node(
                name=wanted.name,
                size=NodeSize(ordered.size, ordered.size, ram=0, disk=0, bandwidth=0, price=0, driver=cloud),
                image=NodeImage(ordered.image, ordered.image, driver=cloud),
                ex_clienttoken=wanted.idempotency_key,
                ex_metadata=marks(wanted),
                **{name: value for name, value in options.items() if value is not None},
            )
        return _told(node)

    def find(self, call: Call, token: str) -> Sequence[Existing]:
        with _understood():
            nodes = self._cloud(call).list_nodes(ex_filters={f"tag:{MARK}": token})
        return [_told(node) for node in nodes if node.extra["status"] != GONE]

    def get(self, call: Call, machine_id: str) -> Existing | None:
        try:
            with _understood():
                nodes = self._cloud(call).list_nodes(ex_node_ids=[machine_id])
        except NoSuchMachine:
            return None
        return next((_told(node) for node in nodes if node.extra["status"] != GONE), None)

    def delete(self, call: Call, machine_id: str) -> None:
        cloud = self._cloud(call)
        node = Node(machine_id, machine_id, NodeState.UNKNOWN, public_ips=[], private_ips=[], driver=cloud)
        with suppress(NoSuchMachine), _understood():
            cloud.destroy_node(node)

    def _cloud(self, call: Call) -> Any:
        parts = urlsplit(self.config.url)
        cloud: Any = _Cloud(
            self.config.access_key,
            secret_of(call),
            secure=parts.scheme == "https",
            host=parts.hostname,
            port=parts.port or (443 if parts.scheme == "https" else 80),
            region=self.config.region,
            signature_version="4",
        )
        cloud.connection.connection.call = call
        return cloud


class _Reply(EC2Response):
    """Servers differ in how they write the namespace, and Libcloud finds nothing in any but its own, without a word."""

    def parse_body(self) -> Any:
        """What is no reply at all must not be taken for an empty list: by it machines would be created twice."""
        body = super().parse_body()
        if not isinstance(body, Element) or not body.tag.endswith("Response"):
            raise Unavailable("bad_reply", _("the provider sent no reply that can be understood"))
        for element in body.iter():
            element.tag = f"{{{NAMESPACE}}}{element.tag.rpartition('}')[2]}"
        return body


class _Connection(EC2Connection):
    conn_class: Any = Transport
    responseCls = _Reply  # noqa: N815 - Libcloud's name

    def pre_connect_hook(self, params: Any, headers: Mapping[str, str]) -> Any:
        """Of the headers the host alone is signed: the others are the client's own."""
        return super().pre_connect_hook(params, {"Host": headers["Host"]})


class _Cloud(EC2NodeDriver):
    connectionCls = _Connection  # noqa: N815 - Libcloud's name

    def ex_describe_addresses(self, nodes: Sequence[Node]) -> dict[Any, list[str]]:
        """Elastic addresses are the servers' own, too: nobody need be asked for them once more."""
        return {node.id: [] for node in nodes}


def _told(node: Any) -> Existing:
    status = node.extra["status"]
    addresses = dict.fromkeys([*node.public_ips, *node.private_ips])
    return Existing(
        id=node.id,
        condition=CONDITIONS.get(status, Condition.STARTING),
        addresses=tuple(addresses),
        error="" if CONDITIONS.get(status) != Condition.BROKEN else f"it is {status}",
    )


@contextmanager
def _understood() -> Iterator[None]:
    """What Libcloud raises comes out as an Unavailable that says which kind of trouble it is."""
    try:
        yield
    except (BaseHTTPError, LibcloudError) as error:
        said = str(getattr(error, "message", "") or error)
        if said.startswith(UNKNOWN_ID):
            refused(NoSuchMachine, said)
        refused(NotHere if said.startswith(FOR_GOOD) else Unavailable, said)
