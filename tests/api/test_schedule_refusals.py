"""Bad input is a clear problem document, and nothing else happens."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest
from django.utils import timezone

from idcsched.accounts.models import ApiToken
from idcsched.scheduling.models import Decision
from idcsched.scheduling.recorder import recorder
from tests.api.conftest import Api

GOOD = {"region": "A", "profile": "seed-example"}


def deep(levels: int) -> bytes:
    return b'{"region": "A", "machines": [{"params": ' + b'{"a": ' * levels + b"1" + b"}" * levels + b"}]}"


def test_it_works(seed: Api, portal: Api) -> None:
    portal.schedule(**GOOD)
    recorder.settle()
    assert Decision.objects.count() == 1


MEANINGLESS = (
    ({**GOOD, "colour": "red"}, "unknown_field", "/colour", "an unknown field"),
    ({**GOOD, "region": 5}, "wrong_type", "/region", "a wrong type"),
    (
        {**GOOD, "machines": [{"count": 1, "bandwidth_mbps": -1}]},
        "out_of_range",
        "/machines/0/bandwidth_mbps",
        "a negative bandwidth",
    ),
    ({**GOOD, "region": "Z"}, "unknown_region", "/region", "an unknown region"),
    ({**GOOD, "region": ["A", "Z"]}, "unknown_region", "/region/1", "an unknown region in a list"),
    ({**GOOD, "profile": "nope"}, "unknown_profile", "/profile", "an unknown profile"),
    ({**GOOD, "isp": "zz"}, "unknown_isp", "/isp", "an unknown ISP"),
    ({**GOOD, "only": ["zz"]}, "unknown_idc", "/only/0", "an unknown IDC"),
    ({**GOOD, "planned": {"idc": "zz"}}, "unknown_idc", "/planned/idc", "an unknown planned IDC"),
    ({**GOOD, "weights": {"zz": 1}}, "unknown_scorer", "/weights/zz", "an unknown scorer"),
    ({**GOOD, "weights": {"x": -1}}, "out_of_range", "/weights/x", "a negative weight"),
    ({"profile": "seed-example"}, "region_required", "/region", "neither region nor only"),
    ({**GOOD, "selector": {}}, "empty_selector", "/selector", "an empty term"),
    ({**GOOD, "selector": []}, "empty_selector", "/selector", "an empty list of terms"),
    ({**GOOD, "fallback": []}, "empty_selector", "/fallback", "no fallback group"),
    ({**GOOD, "prefer": [{"weight": 5}]}, "empty_selector", "/prefer/0", "an empty preference"),
    (
        {**GOOD, "tolerations": [{"operator": "Equal"}]},
        "exists_required",
        "/tolerations/0/operator",
        "a toleration of everything without Exists",
    ),
    ({**GOOD, "labels": {"tenant": "x"}}, "reserved_label", "/labels/tenant", "a made-up tenant"),
    ({**GOOD, "action": "provision"}, "machines_required", "/machines", "to start no machine"),
    ({**GOOD, "spread": {"max_per_idc": 1}}, "machines_required", "/machines", "to spread no machine"),
    ({**GOOD, "shape": [0.5] * 23}, "invalid_shape", "/shape", "a shape of 23 hours"),
    (
        {**GOOD, "hypothetical": {"idcs": [{"code": "a", "metrics": {"zz": 1}}]}},
        "unknown_metric",
        "/hypothetical/idcs/0/metrics/zz",
        "a hypothetical metric that does not exist",
    ),
    (
        {**GOOD, "hypothetical": {"idcs": [{"code": "zz"}]}},
        "unknown_idc",
        "/hypothetical/idcs/0/code",
        "a hypothetical IDC that does not exist",
    ),
    ([GOOD], "wrong_type", "", "a list"),
    (
        {**GOOD, "machines": [{"params": {"disk": 2**64}}]},
        "out_of_range",
        "/machines/0/params",
        "a number beyond 64 bits for the provider",
    ),
)


def test_a_request_that_cannot_be_meant(seed: Api, portal: Api, subtests: pytest.Subtests) -> None:
    for request, code, pointer, name in MEANINGLESS:
        with subtests.test(name):
            assert portal.refused("POST", "/schedule/", request, status=400) == (code, [pointer])
            assert not Decision.objects.exists()


UNREADABLE = (
    (b" ", 400, "malformed_json", "nothing"),
    (b'{"region": "A"', 400, "malformed_json", "half a document"),
    (b'{"region": "A", "weights": {"x": NaN}}', 400, "malformed_json", "NaN"),
    (b'{"region": "A", "weights": {"x": 1e999}}', 400, "invalid", "a number beyond all numbers"),
    (b'{"region": "A", "weights": {"x": "1"}', 400, "wrong_type", "half a document, and that half wrong"),
    (b'{"region": "\xff"}', 400, "malformed_json", "not UTF-8"),
    (rb'{"region": "A", "request_id": "a\u0000b"}', 400, "nul_character", "a NUL"),
    (deep(50_000), 400, "too_deep", "deep nesting"),
    (b'{"region": "' + b"A" * 10_000_000 + b'"}', 413, "body_too_large", "10 MB"),
)


def test_a_body_that_cannot_be_read(seed: Api, portal: Api, subtests: pytest.Subtests) -> None:
    for body, status, code, name in UNREADABLE:
        with subtests.test(name):
            response = portal.raw("POST", "/schedule/", body)

            assert (response.status_code, response["Content-Type"]) == (status, "application/problem+json")
            assert response.json()["code"] == code
            assert not Decision.objects.exists()


def test_another_media_type(seed: Api, portal: Api, subtests: pytest.Subtests) -> None:
    for media_type in ("text/plain", "application/xml", "multipart/form-data; boundary=x", ""):
        with subtests.test(media_type):
            response = portal.raw("POST", "/schedule/", b'{"region": "A"}', content_type=media_type)

            assert (response.status_code, response.json()["code"]) == (415, "unsupported_media_type")


def test_another_method(seed: Api, portal: Api, subtests: pytest.Subtests) -> None:
    for method in ("GET", "PUT", "PATCH", "DELETE"):
        with subtests.test(method):
            assert portal.refused(method, "/schedule/", status=405) == ("method_not_allowed", [])


def test_no_token(seed: Api, anonymous: Api) -> None:
    response = anonymous.raw("POST", "/schedule/", b'{"region": "A"}')

    assert (response.status_code, response.json()["code"]) == (401, "token_missing")
    assert response["WWW-Authenticate"] == "Bearer"


NOBODYS = (
    ("", "token_missing"),
    ("nonsense", "token_invalid"),
    ("idc_" + "x" * 40, "token_invalid"),
    ("é", "token_invalid"),
)


def test_a_token_that_nobody_issued(seed: Api, anonymous: Api, subtests: pytest.Subtests) -> None:
    for token, code in NOBODYS:
        with subtests.test(token):
            response = anonymous.raw("POST", "/schedule/", b'{"region": "A"}', Authorization=f"Bearer {token}")

            assert (response.status_code, response.json()["code"]) == (401, code)


def test_an_expired_token(seed: Api, api: Callable[..., Api]) -> None:
    late = api("portal", expires_at=timezone.now() + timedelta(hours=1))
    made, ended = datetime(2020, 1, 1, tzinfo=UTC), datetime(2020, 1, 2, tzinfo=UTC)
    ApiToken.objects.filter(expires_at__isnull=False).update(created_at=made, expires_at=ended)

    assert late.refused("POST", "/schedule/", GOOD, status=401) == ("token_expired", [])


def test_a_token_from_elsewhere(seed: Api, api: Callable[..., Api]) -> None:
    abroad = api("portal", allowed_networks=["10.0.0.0/8"])

    assert abroad.refused("POST", "/schedule/", GOOD, status=401) == ("address_not_allowed", [])


def test_a_viewer_may_not_schedule(seed: Api, api: Callable[..., Api]) -> None:
    assert api("viewer").refused("POST", "/schedule/", GOOD, status=403) == ("role_not_allowed", [])


def test_a_read_only_token_may_not_schedule(seed: Api, api: Callable[..., Api]) -> None:
    assert api("portal", read_only=True).refused("POST", "/schedule/", GOOD, status=403) == ("read_only_token", [])


def test_a_portal_may_not_act_for_another_tenant(seed: Api, portal: Api) -> None:
    assert portal.refused("POST", "/schedule/", {**GOOD, "tenant": "other"}, status=403) == ("tenant_not_allowed", [])


def test_an_unknown_tenant(seed: Api, admin: Api) -> None:
    assert admin.refused("POST", "/schedule/", {**GOOD, "tenant": "other"}, status=400) == (
        "unknown_tenant",
        ["/tenant"],
    )


def test_another_tenants_decision_is_not_there(seed: Api, admin: Api, portal: Api) -> None:
    made = admin.schedule(**GOOD)["decision_id"]

    assert portal.refused("GET", f"/decisions/{made}/", status=404) == ("not_found", [])
    assert portal.get("/decisions/")["results"] == []
