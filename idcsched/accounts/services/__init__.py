"""All writes of this package, and the authentication of a token."""

from .idempotency import (
    Busy,
    KeptAnswer,
    KeyReused,
    idempotency_answer,
    idempotency_prune,
)
from .second_factor import second_factor_enrol, second_factor_reset, second_factor_verify
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
from .user import user_create, user_delete, user_provided, user_update

__all__ = [
    "Busy",
    "IssuedToken",
    "KeptAnswer",
    "KeyReused",
    "idempotency_answer",
    "idempotency_prune",
    "second_factor_enrol",
    "second_factor_reset",
    "second_factor_verify",
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
    "user_provided",
    "user_update",
]
