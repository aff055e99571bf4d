"""A portal commits a recommendation in its next request, through either web process."""

from tests.stories.product import Product


def test_it_works(product: Product) -> None:
    portal = product.caller()
    answer = portal.schedule(region="A", profile="seed-example", request_id="order-1")
    placed = portal.post("/placements/", {"commit_token": answer["commit_token"]}, status=201)
    assert (placed["state"], placed["idc"]) == ("reserved", answer["idc"]["code"])
    again = portal.post("/placements/", {"commit_token": answer["commit_token"]}, status=200)
    assert again["id"] == placed["id"]


def test_the_other_web_process_commits_it_at_once(product: Product) -> None:
    first, other = product.first_and_other()
    answer = first.schedule(region="A", profile="seed-example", request_id="order-2")
    placed = other.post("/placements/", {"commit_token": answer["commit_token"]}, status=201)
    assert placed["idc"] == answer["idc"]["code"]
