"""The lines of the page “Steps in other tools” do what it says."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

import evenflow

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "steps.md"
TEXTS = ["She met her brother.", "He left.", "", "It rained."] * 5


RUN = """
import json, sys
import datasets
code, texts = json.load(sys.stdin)
names = {"dataset": datasets.Dataset.from_dict({"text": texts})}
exec(code, names)
print(json.dumps(names["dataset"].to_dict()))
"""


def test_datasets_map_counts_what_measure_counts() -> None:
    """In a process of its own: datasets cannot send to its workers what other tests loaded."""
    pytest.importorskip("datasets", reason="readers: run `.venv/bin/pip install datasets`")
    [code] = re.findall(r"```python\n(import evenflow\n.+?)```", PAGE.read_text(), re.DOTALL)
    given = json.dumps([code, TEXTS])
    ended = subprocess.run(
        [sys.executable, "-c", RUN], input=given, capture_output=True, text=True, check=True
    )
    done = json.loads(ended.stdout.splitlines()[-1])
    counts = evenflow.measure(TEXTS, attributes=["gender"]).attributes["gender"]["counts"]
    assert {group: sum(done[f"mentions_gender_{group}"]) for group in counts} == counts
    assert done["text"] == TEXTS
