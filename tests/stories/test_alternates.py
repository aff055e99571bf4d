"""Where the best IDC's provider cannot start the machines, the placement falls to the next best IDC."""

from tests.stories.fleet import AT_ONCE, new_fleet, new_provider
from tests.stories.product import Product, in_state

FULL = {"at_most": 0}


def test_the_next_best_idc_takes_over(product: Product) -> None:
    fleet = new_fleet(product, providers=[new_provider(product, config=FULL), new_provider(product)])
    best, next_best = fleet.idcs
    placed = fleet.provision(request_id="order-8812")
    assert placed["idc"] == best

    active = in_state(fleet.first, placed, "active")
    assert active["idc"] == next_best
    (attempt,) = active["attempts"]
    assert (attempt["idc"], attempt["state"]) == (best, "failed")
    assert attempt["error"].endswith(": there is room for 0 machines")
    assert fleet.pending(fleet.other) == [0, 100]


def test_the_decision_says_why_it_was_not_the_best(product: Product) -> None:
    fleet = new_fleet(product, providers=[new_provider(product, config=FULL), new_provider(product)])
    active = in_state(fleet.first, fleet.provision(), "active")
    taken = fleet.first.get(f"/decisions/{active['decision_id']}/").get("taken")
    passed_over = [{"idc": fleet.idcs[0], "rank": 1, "because": "provider_failed"}]
    why = {"because": "provider_failed", "passed_over": passed_over}
    assert taken == {"idc": fleet.idcs[1], "rank": 2, **why, "placement": active["id"]}


def test_a_provider_that_always_refuses_is_tried_as_often_as_it_says(product: Product) -> None:
    refuses = new_provider(product, config={"refused": 1, "tries": 2})
    fleet = new_fleet(product, providers=[refuses, new_provider(product)])
    active = in_state(fleet.first, fleet.provision(), "active")
    assert active["idc"] == fleet.idcs[1]
    assert active["attempts"][0]["error"].endswith(": the provider refuses, as it is configured to")


def test_all_fail_and_a_retry_succeeds_later(product: Product) -> None:
    providers = [new_provider(product, config=FULL) for _ in range(2)]
    fleet = new_fleet(product, providers=providers)
    failed = in_state(fleet.first, fleet.provision(), "failed")
    assert [(each["idc"], each["state"]) for each in failed["attempts"]] == [(idc, "failed") for idc in fleet.idcs]
    assert fleet.pending(fleet.other) == [0, 0]

    fleet.admin.call("PATCH", f"/providers/{providers[1]}/", {"config": AT_ONCE}, status=200)
    again = fleet.first.post(f"/placements/{failed['id']}/retry/", status=202)
    assert again["state"] == "provisioning"
    assert in_state(fleet.first, again, "active")["idc"] == fleet.idcs[1]
    assert fleet.pending(fleet.other) == [0, 100]
    assert "The ledger agrees" in product.command("ledger_audit")
