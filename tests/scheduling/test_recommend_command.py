"""`manage.py recommend`: a question on the command line, the answer as a table or as the API's JSON."""

import io
import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from idcsched.scheduling.management.commands.recommend import Command
from idcsched.scheduling.models import Decision
from metrics_ingest.models import Latest
from tests.demo.conftest import loaded, loaded_var  # noqa: F401 - the demo's fixtures, used by name

pytestmark = [pytest.mark.usefixtures("db"), pytest.mark.usefixtures("loaded")]

SEED = ["--region", "A", "--profile", "seed-example"]

Recommend = Callable[..., str]


@pytest.fixture
def recommend(monkeypatch: pytest.MonkeyPatch) -> Recommend:
    """A function that runs the command with these words, and returns what it printed."""

    def run(*words: str, stdin: str = "") -> str:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin.encode())))
        said = io.StringIO()
        try:
            call_command("recommend", *words, stdout=said)
        except SystemExit as leaving:
            return f"{said.getvalue()}exit {leaving.code}"
        return said.getvalue()

    return run


@pytest.fixture
def answer(recommend: Recommend) -> Callable[..., Any]:
    """A function that runs the command with `--json` and returns the decoded answer."""
    return lambda *words, **options: json.loads(recommend(*words, "--json", **options))


def test_it_works(recommend: Recommend) -> None:
    lines = recommend(*SEED, "--request-id", "order-8812").splitlines()

    assert lines[:2] == ["d, region A", "3/4 IDCs fit: 1 untolerated taint"]
    assert lines[3:8] == [
        "#  IDC  lines  score    x     y",
        "                      ×10  ×100",
        "1  d    -        220   20   200",
        "2  b    -        220   20   200",
        "3  a    -        110   10   100",
    ]
    assert "Tie between d, b, broken by affinity: d 1, b 0." in lines
    assert "b is next, 0 behind." in lines
    assert "Rejected:" not in lines


def test_explain_adds_ways_and_rejections(recommend: Recommend) -> None:
    said = recommend(*SEED, "--explain")

    assert "  y  raw 2  → 2  × 100  = 200" in said
    assert "Rejected:\n  c  taint  untolerated taint disabled=true:NoSchedule\n" in said


def test_the_decision_is_on_record(answer: Callable[..., Any]) -> None:
    told = answer(*SEED)

    recorded = Decision.objects.get(pk=told["decision_id"])
    assert (recorded.actor, recorded.idc, recorded.tenant) == ("recommend", "d", None)


def test_json_is_the_contracts_answer(answer: Callable[..., Any]) -> None:
    told = answer(*SEED, "--explain", "--request-id", "order-8812")

    assert told["request_id"] == "order-8812"
    assert (told["idc"]["code"], told["score"], told["evaluated"], told["feasible"]) == ("d", 220, 4, 3)
    assert told["rejected"][0]["idc"] == "c"
    assert told["commit_token"]


@pytest.mark.parametrize(
    ("words", "request_body"),
    [
        pytest.param(["--region", "A"], {"region": "A"}, id="one region"),
        pytest.param(["--region", "A", "--region", "B"], {"region": ["A", "B"]}, id="several regions"),
        pytest.param(["--only", "d"], {"only": ["d"]}, id="only"),
        pytest.param(
            ["--region", "A", "--exclude", "d", "--exclude", "b"], {"region": "A", "exclude": ["d", "b"]}, id="exclude"
        ),
        pytest.param(
            ["--region", "huanan", "--isp", "ct", "--isp", "cu", "--isp-match", "all"],
            {"region": "huanan", "isp": ["ct", "cu"], "isp_match": "all"},
            id="several ISPs",
        ),
        pytest.param(
            ["--region", "huanan", "--isp", "telecom", "--tier", "edge", "--partition", "live"],
            {"region": "huanan", "isp": "telecom", "tier": "edge", "partition": "live"},
            id="ISP, tier and partition",
        ),
        pytest.param(
            ["--region", "A", "--count", "3", "--bandwidth", "0", "--cpu", "8", "--memory", "16", "--disk", "100"],
            {
                "region": "A",
                "machines": [{"count": 3, "bandwidth_mbps": 0.0, "cpu": 8.0, "memory_gib": 16.0, "disk_gib": 100.0}],
            },
            id="machines",
        ),
        pytest.param(
            ["--region", "A", "--label", "business=live", "--label", "note=a=b"],
            {"region": "A", "labels": {"business": "live", "note": "a=b"}},
            id="labels of the request",
        ),
        pytest.param(
            [*SEED, "--weight", "x=5", "--weight", "y=0.5"],
            {"region": "A", "profile": "seed-example", "weights": {"x": 5.0, "y": 0.5}},
            id="weights",
        ),
        pytest.param(["--region", "A", "--top", "1"], {"region": "A", "top": 1}, id="how many are shown"),
        pytest.param(["--region", "A", "--tenant", "demo"], {"region": "A", "tenant": "demo"}, id="for a tenant"),
    ],
)
def test_each_option_is_the_requests_field(
    words: list[str], request_body: dict[str, Any], answer: Callable[..., Any]
) -> None:
    told = answer(*words)

    assert Decision.objects.get(pk=told["decision_id"]).request == request_body


@pytest.mark.parametrize(
    ("text", "toleration"),
    [
        pytest.param("disabled", {"key": "disabled", "operator": "Exists"}, id="a key: whatever its value"),
        pytest.param("disabled=true", {"key": "disabled", "value": "true"}, id="key and value"),
        pytest.param(
            "disabled=true:NoSchedule", {"key": "disabled", "value": "true", "effect": "NoSchedule"}, id="all three"
        ),
        pytest.param(
            "disabled:NoSchedule",
            {"key": "disabled", "operator": "Exists", "effect": "NoSchedule"},
            id="key and effect",
        ),
    ],
)
def test_a_tolerated_taint_lets_c_win(text: str, toleration: dict[str, str], answer: Callable[..., Any]) -> None:
    told = answer(*SEED, "--tolerate", text)

    assert (told["idc"]["code"], told["score"]) == ("c", 330)
    assert Decision.objects.get(pk=told["decision_id"]).request["tolerations"] == [toleration]


@pytest.mark.parametrize("text", ["disabled=false", "disabled=true:NoExecute", "a:b", "other"])
def test_another_taint_tolerated_helps_nothing(text: str, answer: Callable[..., Any]) -> None:
    assert answer(*SEED, "--tolerate", text)["idc"]["code"] == "d"


def test_a_request_in_json_on_standard_input(answer: Callable[..., Any]) -> None:
    told = answer("-", "--top", "1", stdin='{"region": "A", "profile": "seed-example", "request_id": "order-8812"}')

    assert (told["idc"]["code"], told["request_id"], len(told["candidates"])) == ("d", "order-8812", 1)


@pytest.mark.parametrize(
    ("words", "stdin", "said"),
    [
        pytest.param([], "", "--region: say where: `region` or `only` must be given", id="neither region nor only"),
        pytest.param(["--region", "Z"], "", "--region: there is no region Z", id="an unknown region"),
        pytest.param(["--region", "A", "--isp", "x"], "", "--isp: there is no ISP x", id="an unknown ISP"),
        pytest.param(["--region", "A", "--profile", "x"], "", "--profile: there is no profile x", id="unknown profile"),
        pytest.param(["--region", "A", "--tenant", "x"], "", "--tenant: there is no tenant x", id="an unknown tenant"),
        pytest.param([*SEED, "--weight", "z=1"], "", "--weight: the profile has no scorer z", id="an unknown scorer"),
        pytest.param(["--region", "A", "--bandwidth", "-1"], "", "--bandwidth: ", id="less than none"),
        pytest.param(["--region", "A", "--bandwidth", "nan"], "", "--bandwidth: ", id="no number"),
        pytest.param(["--region", "A", "--label", "x"], "", "--label takes KEY=VALUE, not x", id="half a label"),
        pytest.param(["--region", "A", "--weight", "x=y"], "", "a weight is a number, not y", id="a weight in words"),
        pytest.param(["--region", "huana"], "", "no region huana; did you mean huanan?", id="nearly a region"),
        pytest.param(
            ["--region", "A", "--profile", "seed-exampel"], "", "did you mean seed-example?", id="nearly a profile"
        ),
        pytest.param(["--region", "A", "--prefer", "a=b"], "", "--prefer takes KEY=VALUE:WEIGHT, not a=b", id="a wish"),
        pytest.param(["--region", "A", "--client", "1,x"], "", "a longitude is a number, not x", id="half a place"),
        pytest.param(["--region", "A", "--shape", "1,2"], "", "--shape: ", id="a shape of two hours"),
        pytest.param(["-"], "{", "the body is not valid JSON", id="half a document"),
        pytest.param(["-"], '{"region": "A", "colour": 1}', "/colour: ", id="an unknown field"),
        pytest.param(["-", "--region", "A"], "{}", "as options or as JSON, not as both", id="both ways at once"),
        pytest.param(["order.json"], "", "not as order.json", id="a file's name"),
    ],
)
def test_refusals_are_one_line(words: list[str], stdin: str, said: str, recommend: Recommend) -> None:
    before = Decision.objects.count()
    with pytest.raises(CommandError) as refusal:
        recommend(*words, stdin=stdin)

    assert said in str(refusal.value)
    assert "\n" not in str(refusal.value)
    assert refusal.value.returncode == 1
    assert Decision.objects.count() == before


@pytest.mark.parametrize(
    ("words", "field", "value"),
    [
        pytest.param(["--client", "huanan"], "client", {"region": "huanan"}, id="a client's region"),
        pytest.param(["--client", "23.1,113.3"], "client", {"latitude": 23.1, "longitude": 113.3}, id="its place"),
        pytest.param(["--shape", ",".join(["0.5"] * 24)], "shape", [0.5] * 24, id="the hours"),
        pytest.param(["--gpu", "0"], "machines", [{"gpu": 0.0}], id="graphics cards"),
        pytest.param(
            ["--select", "idc/tier=edge"], "selector", {"match_labels": {"idc/tier": "edge"}}, id="a label asked for"
        ),
        pytest.param(
            ["--prefer", "disk=ssd:-5"], "prefer", [{"weight": -5, "match_labels": {"disk": "ssd"}}], id="a wish"
        ),
    ],
)
def test_it_asks_what_the_api_can_ask(words: list[str], field: str, value: Any, answer: Callable[..., Any]) -> None:
    told = answer("--region", "huanan", *words)
    assert Decision.objects.get(pk=told["decision_id"]).request[field] == value


def test_nothing_fits_is_an_answer_with_a_status_of_its_own(recommend: Recommend) -> None:
    said = recommend("--region", "huanan", "--isp", "ct", "--bandwidth", "90000")

    assert said.startswith("Nothing fits: none_feasible\n0/11 IDCs fit: ")
    assert "Near misses:\n  gz-ct-01" in said
    assert said.endswith("exit 2")


def test_a_failing_plugin_is_one_line(recommend: Recommend, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise RuntimeError("boom")

    monkeypatch.setattr("plugins.available.Available.pre_filter", broken)
    with pytest.raises(CommandError, match="plugin available failed at pre_filter: RuntimeError: boom"):
        recommend(*SEED)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(["--bandwith", "3"], id="an option that does not exist"),
        pytest.param(["--tier", "middle"], id="a choice that does not exist"),
        pytest.param(["--count", "many"], id="a word for a number"),
    ],
)
def test_wrong_options_leave_with_1_and_one_line(words: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as leaving:
        Command().run_from_argv(["manage.py", "recommend", *words])

    assert leaving.value.code == 1
    assert capsys.readouterr().err.count("\n") == 1


def test_help_is_no_error() -> None:
    manage = [sys.executable, str(settings.BASE_DIR / "manage.py"), "recommend", "--help"]
    shown = subprocess.run(manage, capture_output=True, text=True, check=True)

    assert "manage.py recommend [options] | -" in shown.stdout


def test_missing_data_is_named(recommend: Recommend) -> None:
    Latest.objects.filter(idc__code="b", metric__code="x").delete()
    said = recommend(*SEED)

    assert said.startswith("d, region A\n")
    assert "\nx (neutral): b missing\n" in said
