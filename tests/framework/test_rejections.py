"""At which plugin an IDC is counted as rejected: the first in the order of the points; `also` names the others."""

from idcsched.framework.testing import IdcSpec, decide_for, profile, world


def test_it_works() -> None:
    known = world({"a": {}, "b": {"taints": ["k:NoSchedule"]}, "c": {"status": "offline"}, "d": {"region": "B"}})
    answer = decide_for(known, profile("available", "taint"), region="A").answer
    assert (answer.evaluated, answer.feasible, answer.not_visited) == (3, 1, 0)
    assert [(count.plugin, count.code, count.count) for count in answer.rejected_counts] == [
        ("available", "not_online", 1),
        ("taint", "untolerated_taint", 1),
    ]


def test_an_idc_is_counted_at_the_first_plugin_that_rejects_it() -> None:
    known = world({"a": {"status": "offline", "taints": ["k:NoSchedule"], "tier": "center"}})
    (rejected,) = decide_for(known, profile("taint", "available"), tier="edge").answer.rejected
    assert (rejected.plugin, rejected.also) == ("tier", ("available", "taint"))


def test_points_come_before_the_profiles_order() -> None:
    known = world({"a": {"status": "offline", "taints": ["k:NoSchedule"]}})
    for order in (("taint", "available"), ("available", "taint")):
        (rejected,) = decide_for(known, profile(*order)).answer.rejected
        assert (rejected.plugin, rejected.also) == ("available", ("taint",))


def test_within_a_point_the_profile_gives_the_order() -> None:
    known = world({"a": {"status": "offline", "tier": "center"}})
    firsts = [
        decide_for(known, profile(*order), tier="edge").answer.rejected[0].plugin
        for order in (("available", "tier"), ("tier", "available"))
    ]
    assert firsts == ["available", "tier"]


def test_also_names_each_other_plugin_once_and_never_the_first() -> None:
    known = world({"a": {"metrics": {"x": 5}, "status": "offline", "taints": ["k:NoSchedule", "l:NoExecute"]}})
    limits = [(name, "metric", {"args": {"metric": "x", "at_most": 1}}) for name in ("m1", "m2")]
    (rejected,) = decide_for(known, profile("available", *limits, "taint")).answer.rejected
    assert (rejected.plugin, rejected.also) == ("available", ("m1", "m2", "taint"))


def test_counts_descend_and_equal_ones_keep_the_order_of_the_points() -> None:
    fleet: dict[str, IdcSpec] = {
        **{f"t{number}": {"taints": ["k:NoSchedule"]} for number in range(3)},
        "o1": {"status": "offline"},
        "c1": {"tier": "center"},
    }
    answer = decide_for(world(fleet), profile("taint", "available"), tier="edge").answer
    assert [count.plugin for count in answer.rejected_counts] == ["taint", "tier", "available"]
    assert answer.summary == "0/5 IDCs fit: 3 untolerated taint, 1 another tier, 1 offline"


def test_reasons_of_one_plugin_are_counted_apart() -> None:
    known = world({"a": {}, "b": {"lines": {"ct": {"used_mbps": 900}}}, "c": {"lines": {"ct": {}}}})
    answer = decide_for(known, profile("network_flow"), machines=[{"bandwidth_mbps": 5}]).answer
    assert {count.code: count.count for count in answer.rejected_counts} == {
        "no_line": 1,
        "not_enough_bandwidth": 1,
        "bandwidth_unknown": 1,
    }


def test_only_and_exclude_come_before_all() -> None:
    known = world({"a": {}, "b": {"status": "offline"}, "c": {"status": "offline"}, "d": {}})
    outcome = decide_for(known, profile("available"), region="A", only=["a", "b"], exclude=["a"])
    assert outcome.rejections == {"a": "excluded", "b": "not_online", "c": "excluded", "d": "excluded"}
    told = {rejected.idc: (rejected.plugin, rejected.reason, rejected.also) for rejected in outcome.answer.rejected}
    assert told["a"] == ("request", "excluded by the request's `exclude`", ())
    assert told["c"] == ("request", "excluded by the request's `only`", ("available",))
    (by_request,) = [count for count in outcome.answer.rejected_counts if count.plugin == "request"]
    assert by_request.count == 3


def test_only_without_a_region_is_the_universe() -> None:
    known = world({"a": {}, "b": {}, "c": {}})
    answer = decide_for(known, only=["c", "a", "c"]).answer
    assert (answer.evaluated, answer.feasible, answer.rejected) == (2, 2, ())


def test_only_within_a_region_counts_the_whole_region() -> None:
    known = world({"a": {}, "b": {}, "c": {"region": "B"}})
    answer = decide_for(known, region="A", only=["a", "c"]).answer
    assert (answer.evaluated, answer.feasible) == (2, 1)


def test_an_empty_exclude_excludes_nobody() -> None:
    assert set(decide_for(world({"a": {}}), exclude=[]).totals) == {"a"}
