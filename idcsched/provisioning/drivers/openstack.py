"""`openstack`: servers of an OpenStack cloud (Keystone v3 and Nova), driven by Apache Libcloud."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import lru_cache
from types import MappingProxyType, SimpleNamespace
from typing import Annotated, Any

import msgspec
from libcloud.common.exceptions import BaseHTTPError
from libcloud.common.openstack_identity import OpenStackAuthenticationCache
from libcloud.common.types import LibcloudError
from libcloud.compute.base import NodeImage, NodeSize
from libcloud.compute.drivers.openstack import OpenStack_2_Connection, OpenStack_2_NodeDriver
from libcloud.compute.types import NodeState

from idcsched.framework.errors import Unavailable
from idcsched.framework.messages import _
from idcsched.provisioning.driver import Call, Condition, Existing, NotHere, Wanted
from idcsched.provisioning.libcloud_driver import (
    MARK,
    Amount,
    Cloud,
    CloudConfig,
    NoSuchMachine,
    Size,
    Text,
    marks,
    refused,
    secret_of,
)
from idcsched.provisioning.libcloud_transport import bound_to

__all__ = ["OpenStack"]

CONDITIONS: Mapping[str, Condition] = MappingProxyType(
    {
        NodeState.RUNNING: Condition.UP,
        NodeState.ERROR: Condition.BROKEN,
        NodeState.STOPPED: Condition.BROKEN,
        NodeState.PAUSED: Condition.BROKEN,
        NodeState.SUSPENDED: Condition.BROKEN,
    }
)
"""Any other state is STARTING."""
FOR_GOOD = frozenset({400, 403, 413})
"""Malformed or unknown, not allowed or beyond the quota: a retry does not help."""
GONE = frozenset({404})
LONGEST_NAME = 200
CREDENTIALS = 64


class Flavor(Size, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A flavor by its id, with what it offers."""

    disk_gib: Amount = 0.0


class OpenStackConfig(CloudConfig, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Which project of which cloud; the URL is Keystone's. The secret is the user's password.

    A machine's `spec` is the id of its flavor, else it is the first of `flavors` that holds it; `image` (an id) stands
    for what an order leaves out. An order's `params` may say `userdata` and `keyname`.
    """

    username: Text
    project: Text
    domain: Text = "Default"
    project_domain: Text = "default"
    """The id of the project's domain in Keystone."""
    region: Text = "RegionOne"
    flavors: Annotated[tuple[Flavor, ...], msgspec.Meta(max_length=200)] = ()
    networks: Annotated[tuple[Text, ...], msgspec.Meta(max_length=16)] = ()
    availability_zone: Text | None = None


class OpenStack(Cloud):
    """Starts servers in an OpenStack cloud, by way of Apache Libcloud."""

    kind = "openstack"
    Config = OpenStackConfig
    config: OpenStackConfig

    @property
    def sizes(self) -> Sequence[Size]:
        return self.config.flavors

    def create(self, call: Call, wanted: Wanted) -> Existing:
        ordered = self.ordered(wanted)
        options = {
            "networks": [SimpleNamespace(id=network) for network in self.config.networks],
            "ex_security_groups": [SimpleNamespace(name=name) for name in self.config.security_groups],
            "ex_keyname": ordered.keyname,
            "ex_userdata": ordered.userdata,
            "ex_availability_zone": self.config.availability_zone,
        }
        cloud = self._cloud(call)
        with _errors_translated(creating=True):
            node = cloud.create_node(
                name=f"{wanted.name[:LONGEST_NAME]}-{wanted.token}",
                size=NodeSize(ordered.size, ordered.size, ram=0, disk=0, bandwidth=0, price=0, driver=cloud),
                image=NodeImage(ordered.image, ordered.image, driver=cloud),
                ex_metadata=marks(wanted),
                **{name: value for name, value in options.items() if value},
            )
        return _existing(node)

    def find(self, call: Call, token: str) -> Sequence[Existing]:
        """Look servers up by name, which contains the token: Nova can't search metadata."""
        cloud = self._cloud(call)
        with _errors_translated():
            reply = cloud.connection.request("/servers/detail", params={"name": token}).object
            if not isinstance(reply, dict) or not isinstance(reply.get("servers"), list):
                raise Unavailable("bad_reply", _("the provider sent no reply that can be understood"))
            nodes = [cloud._to_node(server) for server in reply["servers"]]  # noqa: SLF001 - its list_nodes has no filter
        return [_existing(node) for node in nodes if node.extra["metadata"].get(MARK) == token and _exists(node)]

    def get(self, call: Call, machine_id: str) -> Existing | None:
        try:
            with _errors_translated():
                node = self._cloud(call).ex_get_node_details(machine_id)
        except NoSuchMachine:
            return None
        return _existing(node) if node is not None and _exists(node) else None

    def delete(self, call: Call, machine_id: str) -> None:
        with suppress(NoSuchMachine), _errors_translated():
            self._cloud(call).destroy_node(SimpleNamespace(id=machine_id))

    def _cloud(self, call: Call) -> Any:
        secret = secret_of(call)
        connection = type("Connection", (_Connection,), {"conn_class": bound_to(call)})
        driver = type("Cloud", (OpenStack_2_NodeDriver,), dict.fromkeys(_CONNECTIONS, connection))
        with _errors_translated():
            return driver(
                self.config.username,
                secret,
                ex_force_auth_url=self.config.url.rstrip("/").removesuffix("/v3"),
                ex_force_auth_version="3.x_password",
                ex_tenant_name=self.config.project,
                ex_domain_name=self.config.domain,
                ex_tenant_domain_id=self.config.project_domain,
                ex_force_service_region=self.config.region,
                ex_auth_cache=_tokens(secret),
            )


class _Connection(OpenStack_2_Connection):
    """Libcloud's connection; `_cloud` sets this project's transport as its `conn_class`."""


_CONNECTIONS = (
    "connectionCls",
    "image_connectionCls",
    "network_connectionCls",
    "volumev2_connectionCls",
    "volumev3_connectionCls",
    "reservation_connectionCls",
)
"""The attributes of Libcloud's driver that name a connection class; calls use the first alone."""


class _Tokens(OpenStackAuthenticationCache):
    """A cache of Keystone's tokens, so that not every turn logs in anew."""

    def __init__(self) -> None:
        self._known: dict[Any, Any] = {}

    def get(self, key: Any) -> Any:
        return self._known.get(key)

    def put(self, key: Any, context: Any) -> None:
        self._known[key] = context

    def clear(self, key: Any) -> None:
        self._known.pop(key, None)


@lru_cache(maxsize=CREDENTIALS)
def _tokens(secret: str) -> _Tokens:
    """Return the cache for a password, so that a wrong password never gets a token of the right one."""
    return _Tokens()


def _exists(node: Any) -> bool:
    return bool(node.state != NodeState.TERMINATED)


def _existing(node: Any) -> Existing:
    condition = CONDITIONS.get(node.state, Condition.STARTING)
    if node.extra["task_state"] == "deleting":
        condition = Condition.GOING
    fault = (node.extra["fault"] or {}).get("message") or f"it is {node.extra['vm_state'] or node.state}"
    return Existing(
        id=node.id,
        condition=condition,
        addresses=tuple(dict.fromkeys([*node.public_ips, *node.private_ips])),
        error=fault if condition == Condition.BROKEN else "",
    )


@contextmanager
def _errors_translated(*, creating: bool = False) -> Iterator[None]:
    """Translate Libcloud's errors into NoSuchMachine, NotHere or Unavailable."""
    try:
        yield
    except (BaseHTTPError, LibcloudError) as error:
        reason = str(getattr(error, "message", "") or getattr(error, "value", "") or error)
        code = getattr(error, "code", None)
        if code in GONE and not creating:
            refused(NoSuchMachine, reason)
        refused(NotHere if creating and code in FOR_GOOD else Unavailable, reason)
