"""All writes of this package, and the authentication of a token."""

from .idempotency import (
    Busy,
    KeptAnswer,
    KeyReused,
    idempotency_answer,
    idempotency_prune,
)
from .tenant import tenant_callback_secret_make, tenant_create, tenant_delete, tenant_update
from .token import (
    IssuedToken,
    token_authenticate,
    token_issue,
    token_revoke,
    token_rotate,
    token_touch,
    token_update,
)
from .user import user_create, user_delete, user_update

__all__ = [
    "Busy",
    "IssuedToken",
    "KeptAnswer",
    "KeyReused",
    "idempotency_answer",
    "idempotency_prune",
    "tenant_callback_secret_make",
    "tenant_create",
    "tenant_delete",
    "tenant_update",
    "token_authenticate",
    "token_issue",
    "token_revoke",
    "token_rotate",
    "token_touch",
    "token_update",
    "user_create",
    "user_delete",
    "user_update",
]
