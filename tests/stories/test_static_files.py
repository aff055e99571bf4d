"""Static files are served to anybody, and no other file is."""

import re

import pytest

from tests.stories.product import Product
from tests.stories.test_header_injection import asked

ABOVE = ["..", "%2e%2e", "..%2f..", "%2e%2e%2f%2e%2e", "..%5c..", "....//", "%252e%252e", "..;"]
FILES = ["manage.py", "etc/passwd", "idcsched/settings.py", "secret-key"]


def static_url(product: Product) -> str:
    """The path below which the static files of this version are served."""
    page = product.caller().ask("GET", "/admin/login/").body
    (found, *_) = re.findall(r"/static/\w+/", page)
    return str(found)


def test_it_works(product: Product) -> None:
    page = product.caller().ask("GET", "/admin/login/").body
    for file in re.findall(r'href="(/static/[^"]+\.css)"', page):
        answer = asked(product, file)
        assert answer is not None
        assert (answer.status, answer.headers["Content-Type"].partition(";")[0]) == (200, "text/css")


@pytest.mark.parametrize("above", ABOVE)
def test_no_other_file_is_served(product: Product, above: str) -> None:
    folder = static_url(product)
    for depth in (1, 2, 5):
        for file in FILES:
            answer = asked(product, f"{folder}{f'{above}/' * depth}{file}")
            assert answer is not None
            assert answer.status in (302, 400, 404), (depth, file)
            assert answer.headers.get("Location", "/static/").startswith("/static/")
