"""The page on cost has what the simulation of a petabyte prints, and the speeds that it uses."""

from __future__ import annotations

import json
import re
import sys

import pytest
from places import ROOT

PAGES = ROOT / "docs" / "pages"


def test_the_page_has_what_the_command_prints(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "benchmarks"))
    import simulate

    monkeypatch.setattr(sys, "argv", ["simulate.py"])
    simulate.main()
    table, rest = capsys.readouterr().out.split("\n\n")
    page = (PAGES / "cost.md").read_text(encoding="utf-8")
    assert table in page
    text = " ".join(page.split())
    for figure in re.findall(r"[\d.e+]+ tokens|\$[\d,]+\d|a beat takes \d+% of the time", rest):
        assert figure in text

    for mode, speed in simulate.MB_A_SECOND.items():
        assert f"| {mode} | {speed} [" in page
    path = ROOT / "tests" / "benchmarks" / "results" / "requests_to_a_store.json"
    rows = json.loads(path.read_text(encoding="utf-8"))["tables"][0]["rows"]
    assert rows[0][:2] == ["workers", f"{simulate.MADE_WRITES}"]
    assert rows[1][-1] == f"{simulate.COMMIT_IN_TURN}"


def test_a_committer_that_is_full_holds_the_workers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "tests" / "benchmarks"))
    from simulate import Setting, commits, felt, pace

    slow, fast = Setting(10, 1.0, 0.0, 1.0), Setting(10, 1.0, 0.0, 0.001)
    assert pace(commits(slow, 2000)) == pytest.approx(1.0)
    assert pace(commits(fast, 5000)) == pytest.approx(10.0, rel=0.02)
    assert felt(slow, commits(slow, 2000))[1] is None
    gap, caught = felt(fast, commits(fast, 2000))
    assert 10 < gap < 15 and caught is not None and caught < 30
