"""Kills a committer with its actions at ten moments: python kill_triggers.py FOLDER"""

from __future__ import annotations

import sys
from pathlib import Path

from kill_anywhere import killed_runs, wrong
from pane_entries import pane_entry

from evenflow.gates import triggers
from evenflow.gates.ledger.history import History
from evenflow.gates.triggers import Decider
from evenflow.pipelines.triggers.worker import act
from evenflow.schemas.config import Config

PANES = 4
NOTE = 'printf 1 >> "$0$EVENFLOW_PANE"'


def work(output: Path) -> None:
    """Commit panes, decide, and act."""
    words = ["sh", "-c", NOTE, f"{output}.note-"]
    rules = {"each": {"panes": 1, "command": words}, "second": {"panes": 2, "command": ["true"]}}
    config = Config.model_validate({"triggers": rules})
    for path in (output / "ledger").glob(".*.part"):
        path.unlink()
    history = History(output)
    decider = Decider(output, config.triggers, history)
    act(output, config)
    for number in range(len(history), PANES):
        entry = pane_entry(number)
        history.commit(entry)
        decider.decide(entry)
        act(output, config)


def result(output: Path) -> list[tuple[str, str]]:
    """What was decided and how it ended; each action was done, at most twice."""
    for pane in range(PANES):
        assert Path(f"{output}.note-{pane}").read_text() in ("1", "11")
    assert triggers.pending(output) == []
    return [(each.rule, str(each.pane)) for each in triggers.history(output)]


if __name__ == "__main__":
    if found := wrong(killed_runs(work, Path(sys.argv[1]) / "work", result)):
        sys.exit("\n".join(map(str, found)))
