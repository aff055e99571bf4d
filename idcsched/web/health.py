"""Is this process alive, and may it be sent requests?"""

from collections.abc import Callable
from http import HTTPStatus

from django.conf import settings
from django.db import DEFAULT_DB_ALIAS, connections
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

__all__ = ["live", "ready"]


@require_safe
@never_cache
def live(request: HttpRequest) -> JsonResponse:
    """200 as long as the process answers at all; depends on nothing."""
    return JsonResponse({"status": "ok"})


@require_safe
@never_cache
def ready(request: HttpRequest) -> JsonResponse:
    """200 when the database is there and migrated, else 503.

    The broker is reported beside it and does not count: recommendations need none.
    """
    database, broker = _said(_database), _said(_broker)
    status = HTTPStatus.OK if database == "ok" else HTTPStatus.SERVICE_UNAVAILABLE
    state = "ok" if status == HTTPStatus.OK else "unavailable"
    return JsonResponse({"status": state, "database": database, "broker": broker}, status=status)


def _said(check: Callable[[], str]) -> str:
    """What a check says; what it raises is an answer too, without the addresses that such texts carry."""
    try:
        return check()
    except Exception as error:  # noqa: BLE001 - drivers raise what they like, and a probe always answers
        return f"unreachable ({type(error).__name__})"


def _database() -> str:
    connection = connections[DEFAULT_DB_ALIAS]
    executor = MigrationExecutor(connection)
    return "not migrated" if executor.migration_plan(executor.loader.graph.leaf_nodes()) else "ok"


def _broker() -> str:
    if not settings.REDIS_URL:
        return "embedded"
    from redis import Redis  # noqa: PLC0415 - who has none need not hold its client in memory

    with Redis.from_url(settings.REDIS_URL, socket_timeout=1, socket_connect_timeout=1) as redis:
        redis.ping()
    return "ok"
