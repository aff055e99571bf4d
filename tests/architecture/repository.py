"""The files that belong to the project, wherever they were copied to."""

import subprocess
from functools import cache
from pathlib import Path

__all__ = ["ROOT", "files"]

ROOT = Path(__file__).resolve().parents[2]


@cache
def files(pattern: str = "*") -> tuple[Path, ...]:
    """Files of the working tree whose name matches: those that git tracks, and new ones that it does not ignore."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard", "--", pattern]
    listing = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    return tuple(path for name in sorted(set(listing.split("\0"))) if name and (path := ROOT / name).is_file())
