"""Users at the console."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client

from idcsched.accounts.models import User
from idcsched.accounts.services import user_create
from tests.api.conftest import api, portal, tenant, user  # noqa: F401 - fixtures, used by name

Browser = Callable[..., Client]


@pytest.fixture
def browser(db: None) -> Browser:
    """A function that returns a client logged in as a user of that role, who may have other fields."""

    def log_in(role: str, **fields: Any) -> Client:
        client = Client()
        client.force_login(
            User.objects.filter(username=role).first() or user_create(username=role, role=role, **fields)
        )
        return client

    return log_in
