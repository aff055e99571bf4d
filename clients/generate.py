"""Generates the Python client in `clients/python` from the OpenAPI document; `make client` runs it."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Final

from django import setup
from django.core.management import call_command
from django.utils.translation import override

__all__ = ["PACKAGE", "document_of", "generate"]

PACKAGE: Final = Path(__file__).parent / "python" / "idcsched_client"
TAGS: Final = frozenset({"placements", "samples", "schedule"})
"""The parts of the API that other programs call: to order machines, and to push measurements."""
RUFF: Final = "--isolated --no-cache --quiet --line-length 120"
CONFIG: Final = {"literal_enums": True, "post_hooks": [f"ruff check --fix-only {RUFF} .", f"ruff format {RUFF} ."]}


def generate(package: Path, document: dict[str, Any] | None = None) -> None:
    """Write the client's package; raises CalledProcessError if the generator can't express a part of the document."""
    with TemporaryDirectory() as folder:
        schema, config = Path(folder, "openapi.json"), Path(folder, "config.json")
        schema.write_text(json.dumps(document or document_of(tags=TAGS)), encoding="utf-8")
        config.write_text(json.dumps(CONFIG), encoding="utf-8")
        files = {"--path": schema, "--config": config, "--output-path": package}
        given = ["--meta", "none", "--fail-on-warning", *(f"{option}={path}" for option, path in files.items())]
        tools = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
        shutil.rmtree(package, ignore_errors=True)
        subprocess.run(  # noqa: S603 - nothing of it comes from elsewhere
            [sys.executable, "-m", "openapi_python_client", "generate", *given],
            check=True,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "PATH": tools},
        )
    (package / "py.typed").touch()


def document_of(*, tags: frozenset[str] | None) -> dict[str, Any]:
    """Return the OpenAPI document: the operations of these tags with the schemas that they refer to, or all of it."""
    written = StringIO()
    with override("en"):
        call_command("spectacular", "--format", "openapi-json", stdout=written)
    document: dict[str, Any] = json.loads(written.getvalue())
    if tags is None:
        return document
    document["paths"] = {path: methods for path, methods in document["paths"].items() if tags & _tags(methods)}
    schemas = document["components"].pop("schemas")
    needed: set[str] = set()
    found = set(_references(document))
    while found:
        needed |= found
        found = {reference for name in found for reference in _references(schemas[name])} - needed
    document["components"]["schemas"] = {name: schema for name, schema in schemas.items() if name in needed}
    return document


def _tags(methods: dict[str, Any]) -> set[str]:
    return {tag for operation in methods.values() for tag in operation["tags"]}


def _references(part: Any) -> Iterator[str]:
    """Yield the names of the schemas to which a part of the document refers."""
    if isinstance(part, dict):
        if isinstance(reference := part.get("$ref"), str) and reference.startswith("#/components/schemas/"):
            yield reference.rpartition("/")[2]
        part = list(part.values())
    if isinstance(part, list):
        for member in part:
            yield from _references(member)


if __name__ == "__main__":
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "idcsched.settings")
    setup()
    generate(PACKAGE)
