"""What those before it have taken is packed with each decision that saw it, and encoded once for all of them."""

import msgspec

from idcsched.framework import recording
from idcsched.framework.recording import Asked, asked_of, pack, unpack
from idcsched.framework.recording import inputs_of as whole
from idcsched.framework.request import Request
from idcsched.framework.standing import Tenancy
from idcsched.framework.testing import NOW, IdcSpec, request, snapshot, world

SNAPSHOT = snapshot(world({"a": IdcSpec(region="A"), "b": IdcSpec(region="B")}))
TAKEN = tuple(
    Tenancy(idc=code, claims=(), tenant="t", business="", machines=number) for number, code in enumerate("abba", 1)
)


def asked(question: Request, taken: tuple[Tenancy, ...] = TAKEN) -> Asked:
    return asked_of(question, SNAPSHOT, now=NOW, reference="r", labels={}, taken=taken)


def kept(question: Request, taken: tuple[Tenancy, ...] = TAKEN) -> list[int]:
    """The numbers of what is read back."""
    inputs = whole(question, SNAPSHOT, now=NOW, reference="r", labels={}, taken=taken)
    return [tenancy.machines for tenancy in unpack(pack(inputs)).taken]


def test_it_works() -> None:
    assert kept(request(SNAPSHOT, region="A")) == [1, 4]
    assert kept(request(SNAPSHOT, region="A")) == [1, 4]


def test_each_has_what_it_could_see_whoever_asked_before() -> None:
    found = [kept(request(SNAPSHOT, region=region)) for region in ("A", "B", "A")]
    assert found == [[1, 4], [2, 3], [1, 4]]
    assert kept(request(SNAPSHOT, region="A", exclude=["b"])) == [1, 2, 3, 4]


def test_each_has_what_was_taken_by_then() -> None:
    assert [kept(request(SNAPSHOT, region="A"), TAKEN[:number]) for number in (1, 4, 0, 1)] == [[1], [1, 4], [], [1]]


def test_it_is_encoded_once_for_all_that_saw_the_same() -> None:
    first, second = (
        asked(request(SNAPSHOT, region="A", request_id="1")),
        asked(request(SNAPSHOT, region="A", request_id="2")),
    )
    assert first.taken is second.taken
    pack(first)
    encoded = recording._latest[1]
    pack(second)
    assert recording._latest[1] is encoded
    assert bytes(encoded) == msgspec.msgpack.encode(first.taken)
