"""GNU gettext, with which `manage.py makemessages` collects texts: running idcsched does not need it."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from tests.servers import debian

__all__ = ["present"]


@contextmanager
def present() -> Iterator[str]:
    """The path of its xgettext, installed first where it is missing; raises Unavailable."""
    if shutil.which("xgettext") is None:
        debian.install("gettext")
    yield str(shutil.which("xgettext"))
