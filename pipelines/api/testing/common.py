"""What the tests of several kinds of plug-ins need."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from typing import Any

# Texts that go wrong where characters are taken for bytes, words for ASCII, or a text for a line
AWKWARD = (
    " ",
    "\n\n",
    "\x00",
    "\ud800 half a pair",
    "e\u0301te\u0301 \u200d \u202e",
    "\U0001f469\u200d\U0001f4bb \U0001f1e9\U0001f1ea",
    "\u5979\u662f\u8001\u5e2b\u3002",
    "word " * 20_000,
    "x" * 100_000,
    "(" * 1000 + "\\" * 1000,
)
SEEDS = ("1", "2")  # of the order of sets


def in_another_process(code: str, name: str, data: Any, seed: str) -> Any:
    """What a program prints in a process of its own, as JSON."""
    child = subprocess.run(
        [sys.executable, "-c", code, name],
        input=json.dumps(data),
        capture_output=True,
        text=True,
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert child.returncode == 0, child.stderr
    return json.loads(child.stdout)
