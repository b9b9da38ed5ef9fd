"""A plugin of pytest with an output of three panes, for tests of what is exported."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenflow

EVEN, UNEVEN = "She met her brother. He met his sister.", "He met his father and his uncle."


@pytest.fixture
def output(tmp_path: Path) -> Path:
    """Two panes that are accepted and one that is blocked; the second has a field more."""
    rows = [{"id": f"0-{n}", "text": EVEN, "n": n} for n in range(40)]
    rows += [{"id": f"1-{n}", "text": EVEN, "n": n, "lang": "en"} for n in range(40)]
    rows += [{"id": f"2-{n}", "text": UNEVEN * 3, "n": n} for n in range(40)]
    config = {"pane.docs": 40, "gate.warn": 0.1, "gate.block": 0.15}
    result = evenflow.Gate(config, attributes=["gender"]).run(rows, tmp_path / "out")
    assert (result["blocked"], result["accepted"]) == ([2], 80)
    return tmp_path / "out"
