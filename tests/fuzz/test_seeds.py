"""What was fuzzed before: every seed, and every input that failed once."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
from places import DATA

TARGETS = runpy.run_path(str(Path(__file__).with_name("targets.py")))["TARGETS"]
SEEDS = sorted(path for path in (DATA / "fuzz").glob("*/*"))


@pytest.mark.parametrize("path", SEEDS, ids=lambda path: f"{path.parent.name}/{path.name}")
def test_a_seed_keeps_the_promise(path: Path) -> None:
    TARGETS[path.parent.name](path.read_bytes())


def test_each_target_has_seeds() -> None:
    assert {path.parent.name for path in SEEDS} == set(TARGETS)
