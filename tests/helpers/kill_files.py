"""Kills runs of the gate at chosen moments and lets them go on: python kill_files.py INPUT WORK
CONFIG_JSON

Prints one JSON object a line; see kill_anywhere.py. Each run is a fork of this process, so that
imports, suites and templates are paid once.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

from kill_anywhere import evenly, killed_runs
from kill_driver import digests, warm

from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.pages.report.report import build
from evenflow.schemas.config import load

SPREAD = 15  # moments over the whole run, beside those of the commits


def moments(events: list[tuple[str, str]]) -> list[int]:
    """Some of the whole run, those of a commit, and the beginnings of entries."""
    numbered = [(number, *event) for number, event in enumerate(events, 1)]
    commits = [n for n, event, path in numbered if event == "os.rename" and "00000001" in path]
    entries = [n for n, event, path in numbered if event == "open" and path.startswith("/ledger/.")]
    return sorted({*evenly(SPREAD)(events), *commits, *(n + 1 for n in commits), *entries})


def main() -> None:
    """Undisturbed run, then one run for each moment."""
    source, work, settings = sys.argv[1], Path(sys.argv[2]), json.loads(sys.argv[3])

    def run(output: Path) -> None:
        Run([source], output, load(None, settings)).go()
        build(output)

    work.mkdir(exist_ok=True)
    warm(work, settings)
    for each in killed_runs(run, work, digests, moments):
        print(json.dumps(each), flush=True)


if __name__ == "__main__":
    main()
