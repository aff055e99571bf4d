"""Third parties' distributions, installed into a folder of their own without network."""

import shutil
import subprocess
import sys
from pathlib import Path

__all__ = ["PACKAGES", "installed"]

PACKAGES = Path(__file__).parent


def installed(folder: Path, *names: str) -> Path:
    """A folder under `folder` that holds these distributions, for PYTHONPATH; what is built stays below `folder`."""
    target = folder / "installed"
    for name in names:
        source = shutil.copytree(PACKAGES / name, folder / name, ignore=shutil.ignore_patterns("__pycache__"))
        offline = ("--no-index", "--no-deps", "--no-build-isolation", "--disable-pip-version-check")
        command = [sys.executable, "-m", "pip", "install", "--quiet", *offline, "--target", str(target), str(source)]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr
    return target
