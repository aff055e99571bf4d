"""`libcloud`: servers of EC2 and of clouds with its API, driven by Apache Libcloud."""

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
from idcsched.provisioning.driver import Call, Condition, Existing, NotHere, Wanted
from idcsched.provisioning.libcloud_driver import (
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
from idcsched.provisioning.libcloud_transport import Transport

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
GONE = "terminated"
"""The status of servers that are gone, though EC2 lists them for a while."""
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
"""How the codes of errors begin that a retry does not help."""

UNKNOWN_ID = "InvalidInstanceID"


class LibcloudConfig(CloudConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Where the servers are. The secret is the secret access key.

    A machine's `spec` is its instance type, else it is the first of `sizes` that holds it; `image` stands for what
    an order leaves out. An order's `params` may say `userdata` and `keyname`.
    """

    access_key: Text
    region: Text = "us-east-1"
    """The region in the signature of requests."""
    sizes: Annotated[tuple[Size, ...], msgspec.Meta(max_length=200)] = ()


class Libcloud(Cloud):
    """Starts servers in a cloud with EC2's API, by way of Apache Libcloud."""

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
        with _errors_translated():
            node = cloud.create_node(
                name=wanted.name,
                size=NodeSize(ordered.size, ordered.size, ram=0, disk=0, bandwidth=0, price=0, driver=cloud),
                image=NodeImage(ordered.image, ordered.image, driver=cloud),
                ex_clienttoken=wanted.idempotency_key,
                ex_metadata=marks(wanted),
                **{name: value for name, value in options.items() if value is not None},
            )
        return _existing(node)

    def find(self, call: Call, token: str) -> Sequence[Existing]:
        with _errors_translated():
            nodes = self._cloud(call).list_nodes(ex_filters={f"tag:{MARK}": token})
        return [_existing(node) for node in nodes if node.extra["status"] != GONE]

    def get(self, call: Call, machine_id: str) -> Existing | None:
        try:
            with _errors_translated():
                nodes = self._cloud(call).list_nodes(ex_node_ids=[machine_id])
        except NoSuchMachine:
            return None
        return next((_existing(node) for node in nodes if node.extra["status"] != GONE), None)

    def delete(self, call: Call, machine_id: str) -> None:
        cloud = self._cloud(call)
        node = Node(machine_id, machine_id, NodeState.UNKNOWN, public_ips=[], private_ips=[], driver=cloud)
        with suppress(NoSuchMachine), _errors_translated():
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
    """A reply in whose XML every namespace is Libcloud's: elements of any other are silently skipped by Libcloud."""

    def parse_body(self) -> Any:
        """Refuse a body that is no EC2 reply: taken for an empty list, it would have machines created twice."""
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
        """Sign no header but Host, as the HTTP client sets the others."""
        return super().pre_connect_hook(params, {"Host": headers["Host"]})


class _Cloud(EC2NodeDriver):
    connectionCls = _Connection  # noqa: N815 - Libcloud's name

    def ex_describe_addresses(self, nodes: Sequence[Node]) -> dict[Any, list[str]]:
        """Return nothing, without a call: servers list their elastic addresses themselves."""
        return {node.id: [] for node in nodes}


def _existing(node: Any) -> Existing:
    status = node.extra["status"]
    addresses = dict.fromkeys([*node.public_ips, *node.private_ips])
    return Existing(
        id=node.id,
        condition=CONDITIONS.get(status, Condition.STARTING),
        addresses=tuple(addresses),
        error="" if CONDITIONS.get(status) != Condition.BROKEN else f"it is {status}",
    )


@contextmanager
def _errors_translated() -> Iterator[None]:
    """Translate Libcloud's errors into NoSuchMachine, NotHere or Unavailable."""
    try:
        yield
    except (BaseHTTPError, LibcloudError) as error:
        reason = str(getattr(error, "message", "") or error)
        if reason.startswith(UNKNOWN_ID):
            refused(NoSuchMachine, reason)
        refused(NotHere if reason.startswith(FOR_GOOD) else Unavailable, reason)
