"""An answer that is JSON already is the response that Django would make of it."""

from http import HTTPStatus

import pytest
from django.http import HttpResponse

from idcsched.api.encoded import Encoded


@pytest.mark.parametrize("status", [HTTPStatus.OK, HTTPStatus.CREATED, 202])
def test_it_works(status: int) -> None:
    mine = Encoded(b'{"a": 1}', status)
    djangos = HttpResponse(b'{"a": 1}', content_type="application/json", status=status)
    assert mine.serialize() == djangos.serialize()
    assert {**vars(mine), "headers": None} == {**vars(djangos), "headers": None}, "and nothing that only one has"


def test_no_two_share_what_can_be_changed() -> None:
    one, other = Encoded(b"{}"), Encoded(b"{}")
    one["ETag"] = '"1"'
    one.set_cookie("a", "1")
    one._resource_closers.append(print)
    one.write(b" ")
    assert vars(other) == {**vars(Encoded(b"{}")), "headers": other.headers}
    assert dict(other.headers) == {"Content-Type": "application/json"}
    assert one["Content-Type"] == "application/json"
