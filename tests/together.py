"""Which tests one process does, one after the other, where several share the work."""

import pytest
from xdist.scheduler import LoadScopeScheduling
from xdist.workermanage import WorkerController

__all__ = ["TOGETHER", "Together", "dearest_first"]

TOGETHER: tuple[tuple[str, ...], ...] = (
    # Each is a whole system: two at once are more than a small machine can carry.
    (
        "tests/e2e/test_fresh_clone.py",
        "tests/e2e/test_kills.py",
        "tests/e2e/test_make_run.py",
        "tests/e2e/test_ordering_machines.py",
        "tests/e2e/test_several_web_processes.py",
    ),
    ("tests/e2e/test_nothing_is_oversold.py",),
    # They share what takes seconds to make: a browser and its site, a server, an installation, the loaded demo.
    ("tests/browser/",),
    ("tests/api/test_generated_client.py",),
    ("tests/api/test_openapi.py",),
    ("tests/architecture/test_import_contracts.py",),
    ("tests/demo/test_answers.py",),
    ("tests/demo/test_live_sources.py",),
    ("tests/demo/test_loaded_data.py",),
    ("tests/demo/test_measuring.py",),
    ("tests/e2e/test_at_once.py",),
    ("tests/e2e/test_installing.py",),
    ("tests/e2e/test_unsized_bodies.py",),
    ("tests/metrics_ingest/test_admin_lists.py",),
    ("tests/metrics_ingest/test_prometheus_collector.py",),
    ("tests/placement/test_libcloud_driver.py",),
    ("tests/scheduling/test_recommend_command.py",),
    ("tests/third_party/test_broken_plugins.py",),
    ("tests/third_party/test_installing_a_plugin.py",),
    ("tests/test_reception.py",),
)
"""Beginnings of the names of tests, a group a line. Whoever commits for real stays out: a group is done where its first
test is, and what the migrations wrote is gone after such a test."""
DEAR = ("tests/e2e/", "tests/third_party/")


def dearest_first(item: pytest.Item, *, uses_database: bool) -> int:
    """What to sort by: whoever uses the database, in the order that pytest-django has found, and then what takes long.

    In the end all processes have something to do. A browser keeps a loop running in its process, with which Django lets
    nobody use the database: it comes later.
    """
    if uses_database:
        return 0
    return 1 if any(item.nodeid.startswith(group) for group in TOGETHER) else 2 if item.nodeid.startswith(DEAR) else 3


class Together(LoadScopeScheduling):
    """Hands out a group as one, and all else one test at a time.

    The marker `xdist_group` is not used: pytest 9.2 and later do not tell xdist 3.8 of it.
    """

    def mark_test_complete(self, node: WorkerController, item_index: int, duration: float = 0) -> None:
        """Forget what is done: after each test xdist counts all that the process was ever given, one by one."""
        super().mark_test_complete(node, item_index, duration)
        scope = self._split_scope(self.registered_collections[node][item_index])
        if all(self.assigned_work[node][scope].values()):
            del self.assigned_work[node][scope]

    def _split_scope(self, nodeid: str) -> str:
        return next((group[0] for group in TOGETHER if nodeid.startswith(group)), nodeid)
