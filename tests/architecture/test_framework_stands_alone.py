"""`idcsched.framework` needs only Python, NumPy and msgspec: importing all of it loads no package that does I/O."""

import subprocess
import sys

from tests.architecture.repository import ROOT

IMPORT_ALL = """
import pkgutil, sys
import idcsched.framework as package
for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
    __import__(module.name)
print(" ".join(sorted({name.partition(".")[0] for name in sys.modules})))
"""
OUTSIDERS = {"django", "rest_framework", "celery", "kombu", "redis", "psycopg2", "requests", "granian", "plugins"}


def loaded_by(code: str) -> set[str]:
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    return set(done.stdout.split())


def test_it_works() -> None:
    assert {"idcsched", "numpy"} <= loaded_by(IMPORT_ALL)


def test_a_fresh_interpreter_loads_no_outsider() -> None:
    assert not loaded_by(IMPORT_ALL) & OUTSIDERS


def test_the_project_itself_imports_nothing() -> None:
    assert not loaded_by("import idcsched, sys; print(*sys.modules)") & {"django", "celery", "numpy"}
