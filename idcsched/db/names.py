"""What people are shown of a row that has a code and a name."""

__all__ = ["code_and_name"]


def code_and_name(code: str, name: str) -> str:
    """Return both; the code alone where there is no other name."""
    return f"{code} {name}" if name not in ("", code) else code
