"""The demo's users, one a role, and the file that tells their secrets to whoever runs the demo."""

import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from django.conf import settings
from django.db import transaction

from idcsched.accounts.models import ApiToken, Tenant, User
from idcsched.accounts.roles import Role, role_can
from idcsched.accounts.services import token_issue, token_revoke, user_create, user_update

__all__ = ["TENANT", "credentials_file", "credentials_issue"]

TENANT: Final = "demo"
ISSUED_AS: Final = "demo"
PASSWORD_BYTES: Final = 12


def credentials_file() -> Path:
    return Path(settings.VAR_DIR) / "demo-credentials.json"


@transaction.atomic
def credentials_issue(*, tenant: Tenant) -> None:
    """A user of each role, called like it, with a new password and a new token; what they had before ends.

    The file tells them once this is committed; where it can't be written, OSError is raised and nothing issued.
    """
    draft = _drafted({role.value: _issued(role, tenant) for role in Role})
    transaction.on_commit(lambda: draft.replace(credentials_file()))


def _issued(role: Role, tenant: Tenant) -> dict[str, str]:
    password = secrets.token_urlsafe(PASSWORD_BYTES)
    user = User.objects.filter(username=role.value).first()
    if user is None:
        home = None if role_can(role, "read_all_tenants") else tenant
        user = user_create(username=role.value, password=password, role=role, tenant=home)
    else:
        user = user_update(user=user, changes={"password": password})
        for token in ApiToken.objects.filter(user=user, name=ISSUED_AS, revoked_at=None):
            token_revoke(token=token)
    text = token_issue(user=user, name=ISSUED_AS, tenant=tenant).text
    return {"username": user.username, "password": password, "token": text}


def _drafted(credentials: Mapping[str, Mapping[str, str]]) -> Path:
    """Written where only this user reads it, beside the file whose place it will take in one step."""
    file = credentials_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        json.dump(credentials, stream, indent=2)
    return draft
