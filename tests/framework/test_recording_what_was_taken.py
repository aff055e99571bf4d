"""What earlier orders have taken is recorded with each decision that saw it."""

from idcsched.framework.overlay import Allocation
from idcsched.framework.question import Question
from idcsched.framework.recording import inputs_of, pack, unpack
from idcsched.framework.request import Request
from idcsched.framework.testing import NOW, IdcSpec, profile, request, snapshot, world

SNAPSHOT = snapshot(world({"a": IdcSpec(region="A"), "b": IdcSpec(region="B")}))
TAKEN = tuple(
    Allocation(idc=code, claims=(), tenant="t", business="", machines=number) for number, code in enumerate("abba", 1)
)


def kept(question: Request, taken: tuple[Allocation, ...] = TAKEN) -> list[int]:
    """The numbers of machines of what was taken, after a record was packed and unpacked."""
    inputs = inputs_of(Question(question, SNAPSHOT, profile(), now=NOW, reference="r"), taken)
    return [allocation.machines for allocation in unpack(pack(inputs)).taken]


def test_it_works() -> None:
    assert kept(request(SNAPSHOT, region="A")) == [1, 4]
    assert kept(request(SNAPSHOT, region="A")) == [1, 4]


def test_each_has_what_it_could_see_whoever_asked_before() -> None:
    found = [kept(request(SNAPSHOT, region=region)) for region in ("A", "B", "A")]
    assert found == [[1, 4], [2, 3], [1, 4]]
    assert kept(request(SNAPSHOT, region="A", exclude=["b"])) == [1, 2, 3, 4]


def test_each_has_what_was_taken_by_then() -> None:
    assert [kept(request(SNAPSHOT, region="A"), TAKEN[:number]) for number in (1, 4, 0, 1)] == [[1], [1, 4], [], [1]]
