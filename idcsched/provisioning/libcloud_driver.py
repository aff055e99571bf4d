"""The base of drivers on Apache Libcloud: the machine that an order asks for in the cloud's terms, and its marks."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, NamedTuple, NoReturn

import msgspec

from idcsched.framework.decoding import decoder_of
from idcsched.framework.errors import FieldError, Unavailable
from idcsched.framework.messages import _
from idcsched.outbound.client import origin_of
from idcsched.outbound.errors import HostRefused
from idcsched.provisioning.driver import Call, Config, Driver, NotHere, Wanted

__all__ = [
    "MARK",
    "Amount",
    "Cloud",
    "CloudConfig",
    "NoSuchMachine",
    "Ordered",
    "Size",
    "Text",
    "marks",
    "refused",
    "secret_of",
]

MARK = "idcsched-token"
LONGEST_REASON = 500
REFUSED = _("the provider refused: {reason}")

Text = Annotated[str, msgspec.Meta(min_length=1, max_length=255)]
Amount = Annotated[float, msgspec.Meta(ge=0)]


class Size(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What the cloud has names for, with what it offers."""

    id: Text
    cpu: Amount = 0.0
    memory_gib: Amount = 0.0
    gpu: Amount = 0.0

    def holds(self, shape: Mapping[str, Any]) -> bool:
        """Return whether the shape fits into the size; resources that the size does not list are ignored."""
        offered = (name for name in self.__struct_fields__ if name != "id")
        return all(getattr(self, name) >= (shape.get(name) or 0.0) for name in offered)


class CloudConfig(Config, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The configuration of a cloud; `image` and `keyname` are the defaults of orders."""

    url: Annotated[str, msgspec.Meta(min_length=1, max_length=2000)]
    image: Text | None = None
    keyname: Text | None = None
    security_groups: Annotated[tuple[Text, ...], msgspec.Meta(max_length=16)] = ()


class Params(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The `params` of a machine in an order."""

    userdata: Annotated[str, msgspec.Meta(max_length=16_384)] | None = None
    keyname: Text | None = None


class Ordered(NamedTuple):
    """An ordered machine in the cloud's terms."""

    size: str
    image: str
    keyname: str | None
    userdata: str | None


class Cloud(Driver):
    """The base class of clouds: translates an order; the calls to the cloud are the subclass's."""

    config: CloudConfig

    @property
    def sizes(self) -> Sequence[Size]:
        """Return the sizes, in the order in which they are tried."""
        raise NotImplementedError

    def check(self) -> Sequence[FieldError]:
        try:
            origin_of(self.config.url)
        except HostRefused as error:
            return [FieldError("/url", "invalid_url", error.template, error.params)]
        return []

    def ordered(self, wanted: Wanted) -> Ordered:
        """Translate an order; raises NotHere for a size or image that this provider lacks, and for invalid params."""
        params = _params(wanted)
        return Ordered(self._size(wanted), self._image(wanted), params.keyname or self.config.keyname, params.userdata)

    def _size(self, wanted: Wanted) -> str:
        if spec := wanted.shape.get("spec"):
            return str(spec)
        size_id = next((size.id for size in self.sizes if size.holds(wanted.shape)), None)
        if size_id is None:
            raise NotHere("no_such_size", _("no size of this provider holds such a machine"))
        return size_id

    def _image(self, wanted: Wanted) -> str:
        image = wanted.shape.get("image") or self.config.image
        if image is None:
            raise NotHere("no_image", _("neither the order nor the provider says which image"))
        return str(image)


class NoSuchMachine(Unavailable):
    """The provider has no machine with this id."""


def secret_of(call: Call) -> str:
    """Return the secret; raises Unavailable where there is none."""
    if call.secret is None:
        raise Unavailable("secret_missing", _("this provider needs a secret_ref"))
    return call.secret


def marks(wanted: Wanted) -> dict[str, str]:
    """Return the metadata that is attached to a machine, by which it is found again."""
    return {MARK: wanted.token, "idcsched-placement": wanted.placement, "idcsched-idc": wanted.idc}


def refused(kind: type[Unavailable], reason: str) -> NoReturn:
    """Raise the refusal of a call, with the cloud's own reason."""
    raise kind("provider_refused", REFUSED, reason=reason[:LONGEST_REASON]) from None


def _params(wanted: Wanted) -> Params:
    decoder_of(Params)
    try:
        return msgspec.convert(wanted.shape.get("params") or {}, Params)
    except msgspec.ValidationError as error:
        raise NotHere("invalid_params", _("the machine's params: {reason}"), reason=error) from None
