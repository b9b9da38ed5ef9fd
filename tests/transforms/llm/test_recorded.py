"""Recorded answers of a capable reader, replayed through the client's cache."""

import importlib.util
from collections import Counter
from pathlib import Path

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "recorded_judge.py"


def test_recorded_answers_pass_the_checks_as_they_did() -> None:
    spec = importlib.util.spec_from_file_location("recorded_judge", SCRIPT)
    assert spec and spec.loader
    recorded = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(recorded)
    rows = [each for each in recorded.read() if "answer" in each][::10]
    outcomes = recorded.replayed(rows)
    assert "cache" in {each.origin for each in outcomes}
    rejected = Counter(each.reason for each in outcomes if each.value is None)
    assert rejected.total() <= 0.05 * len(rows), rejected
