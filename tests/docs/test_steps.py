"""The lines of the page “Steps in other tools” do what it says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import evenflow

PAGE = Path(__file__).parents[2] / "docs" / "pages" / "steps.md"
TEXTS = ["She met her brother.", "He left.", "", "It rained."] * 5


def test_datasets_map_counts_what_measure_counts(tmp_path: Path) -> None:
    datasets: Any = pytest.importorskip(
        "datasets", reason="readers: run `.venv/bin/pip install datasets`"
    )
    [code] = re.findall(r"```python\n(import evenflow\n.+?)```", PAGE.read_text(), re.DOTALL)
    names: dict[str, Any] = {"dataset": datasets.Dataset.from_dict({"text": TEXTS})}
    exec(code, names)
    done = names["dataset"]
    counts = evenflow.measure(TEXTS, attributes=["gender"]).attributes["gender"]["counts"]
    assert {group: sum(done[f"mentions_gender_{group}"]) for group in counts} == counts
    assert done["text"][:] == TEXTS
