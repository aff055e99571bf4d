"""Installs missing programs where the tests may do so: as root on Debian."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

from tests.servers import Unavailable

__all__ = ["install"]

LOG = Path("var/apt.log")
QUIET = {"DEBIAN_FRONTEND": "noninteractive", "RUNLEVEL": "1"}  # run level 1: services are installed, not started


def install(package: str) -> None:
    """Install a Debian package, said aloud; raises Unavailable with the reason where that can't be."""
    if shutil.which("apt-get") is None:
        raise Unavailable(f"{package} is not installed, and there is no apt-get to install it with")
    if os.geteuid() != 0:
        raise Unavailable(f"{package} is not installed, and only root may: apt-get install {package}")
    print(f"Installing {package} (apt-get) ...", file=sys.stderr, flush=True)
    LOG.parent.mkdir(parents=True, exist_ok=True)
    with LOG.open("ab") as log:
        for step in (["update"], ["install", "--yes", "--no-install-recommends", package]):
            done = subprocess.run(
                ["apt-get", "--quiet", *step],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=os.environ | QUIET,
                check=False,
            )
    if done.returncode:
        raise Unavailable(f"apt-get could not install {package}; see {LOG}")
