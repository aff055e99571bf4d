"""Types that several threads decode for the first time at once: msgspec alone crashes the process then."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

RACE = """
import sys, threading
import msgspec
from idcsched.framework.decoding import convert, decode_json

sys.setswitchinterval(1e-6)

def race(kind):
    together = threading.Barrier(4)
    found = []

    def decode(number):
        together.wait()
        found.append(convert({"rows": [{"f1": 2}]}, kind) if number % 2 else decode_json(b'{"rows":[{"f1":2}]}', kind))

    threads = [threading.Thread(target=decode, args=(number,)) for number in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert [one.rows[0].f1 for one in found] == [2] * 4, found

for _ in range(100):
    row = msgspec.defstruct("Row", [(f"f{number}", int | None, None) for number in range(20)])
    race(msgspec.defstruct("Outer", [("rows", list[row])]))
"""
TYPED = re.compile(r"msgspec\.(convert\(|(json|msgpack)\.(Decoder\(|decode\(.*\btype=))")
KNOWN = {Path("idcsched/demo/showcase.py"), Path("idcsched/framework/decoding.py")}
"""The one has a single thread, the other sees to it."""


def test_it_works() -> None:
    subprocess.run([sys.executable, "-c", RACE], check=True, timeout=280)


@pytest.mark.parametrize("folder", ["idcsched", "metrics_ingest", "plugins"])
def test_every_type_has_its_decoder_made_under_the_lock(folder: str) -> None:
    texts = {path: path.read_text(encoding="utf-8") for path in Path(folder).rglob("*.py") if path not in KNOWN}
    assert not [path for path, text in texts.items() if TYPED.search(text) and "decoder_of(" not in text]
