"""Files of the inventory as tests write them."""

import json
from collections.abc import Mapping
from typing import Any

from idcsched.accounts.roles import Principal, Role
from idcsched.audit.context import origin_set
from idcsched.imports.exporting import json_document, table
from idcsched.imports.importing import Outcome, import_inventory
from idcsched.imports.reading import read_files
from idcsched.imports.resources import KINDS

__all__ = ["ADMIN", "exported_json", "exported_tables", "faults", "imported"]

ADMIN = Principal(user_id=1, username="anna", role=Role.ADMIN)
Files = Mapping[str, str | bytes | dict[str, Any]]


def imported(files: Files, *, kind: str = "", **options: Any) -> Outcome:
    """Import files by name: text, bytes, or a document."""
    found = [(name, _bytes(content)) for name, content in files.items()]
    with origin_set(actor="anna", via="import", message="the new list"):
        return import_inventory(read_files(found, kind), **{"principal": ADMIN} | options)


def _bytes(content: str | bytes | dict[str, Any]) -> bytes:
    if isinstance(content, bytes):
        return content
    return (content if isinstance(content, str) else json.dumps(content)).encode()


def faults(outcome: Outcome) -> list[tuple[str, str, str]]:
    """Return the row, the column and the code of each fault."""
    return [(fault.row, fault.column, fault.error.code) for fault in outcome.faults]


def exported_json() -> str:
    return "".join(json_document())


def exported_tables() -> dict[str, str]:
    return {f"{kind.name}.csv": table(kind) for kind in KINDS}
