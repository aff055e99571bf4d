"""Ctrl-C and SIGTERM stop a run, whatever it was just doing."""

import subprocess
import sys

DROPPED = """
import os, signal, time
from idcsched.demo.supervisor import ignore_signals, interrupt_on_signals

class Finalized:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGTERM)

interrupt_on_signals()
try:
    Finalized()
    time.sleep(100)
except KeyboardInterrupt:
    ignore_signals()
    time.sleep(1.5)
    print("stopped")
"""


def test_an_interrupt_that_a_finalizer_drops_comes_again() -> None:
    done = subprocess.run([sys.executable, "-c", DROPPED], capture_output=True, text=True, timeout=200, check=False)
    assert "Exception ignored" in done.stderr
    assert done.stdout == "stopped\n"
