"""The demo's users, one per role, and the file with their passwords and tokens for whoever runs the demo."""

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
    """Give a user of each role, named after the role, a new password and token; revoke the former ones.

    The file is replaced on commit; where it can't be written, OSError is raised and nothing is issued.
    """
    draft = _write_draft({role.value: _issued(role, tenant) for role in Role})
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


def _write_draft(credentials: Mapping[str, Mapping[str, str]]) -> Path:
    """Write the credentials to a draft beside the file, readable by this user only; return its path."""
    file = credentials_file()
    file.parent.mkdir(parents=True, exist_ok=True)
    draft = file.with_name(f".{file.name}.draft")
    draft.unlink(missing_ok=True)
    with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="utf-8") as stream:
        json.dump(credentials, stream, indent=2)
    return draft
