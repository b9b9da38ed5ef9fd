"""Gaps of real texts before and after a plan's additions, both times judged by the gate.

    python tests/benchmarks/coverage_closes.py [speeches|read] [TAU…]

The texts are inaugural addresses and messages on the state of the union (speeches, from
tests/data/speeches.jsonl.gz), or sentences of 21 other sources (read, from
tests/data/stereotype_read.jsonl). The additions are their own sentences with exchanged labels.
No language model writes. Some additions, drawn, are printed.
"""

from __future__ import annotations

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

DATA = Path(__file__).parents[1] / "data"
SHOWN = 50  # additions that are printed
SPEECHES = ("inaugural", "state_union")
ATTRIBUTES = ("gender", "source")
PROGRAM = (sys.executable, "-c", "from evenflow.pipelines.cli.app import main; main()")


def evenflow(*words: object) -> str:
    """What a command prints."""
    given = [*PROGRAM, *map(str, words)]
    return subprocess.run(given, check=True, capture_output=True, text=True).stdout


def gaps(entry: dict[str, Any]) -> dict[str, int]:
    """Records of each gap, of a pane's entry."""
    return {
        " ".join(each["pattern"].values()): each["records"]
        for each in entry["coverage"]["rolling"]["gaps"]
    }


def judged(folder: Path, name: str, inputs: list[Path], tau: str) -> dict[str, Any]:
    """The ledger's entry of the only pane of some files."""
    config = folder / "config.yaml"
    config.write_text(
        f"coverage: {{tau: {tau}, attributes: [{', '.join(ATTRIBUTES)}], warn: 0.01}}\n"
        "attributes: {gender: {warn: 1, block: 1}}\npane: {docs: 100000}\n"
    )
    given = [word for each in inputs for word in ("--input", each)]
    evenflow("run", *given, "--output", folder / name, "--config", config, "--quiet")
    entries = sorted((folder / name / "ledger").glob("0*.json"))
    assert len(entries) == 1
    return json.loads(entries[0].read_bytes())


def texts_of(which: str, folder: Path) -> Path:
    """The texts that are asked for, as a file with text and source."""
    if which == "speeches":
        return DATA / "speeches.jsonl.gz"
    path = folder / "read.jsonl"
    with path.open("w", encoding="utf-8") as out:
        for line in (DATA / "stereotype_read.jsonl").open(encoding="utf-8"):
            row = json.loads(line)
            if row["source"] not in SPEECHES:
                out.write(json.dumps({"text": row["sentence"], "source": row["source"]}) + "\n")
    return path


def closes(console: Console, which: str, tau: str) -> None:
    """Print what is closed at a threshold."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        made, planned = folder / "made.jsonl", folder / "plan.json"
        texts = texts_of(which, folder)
        common = (texts, "--attributes", ",".join(ATTRIBUTES), "--tau", tau)
        before = judged(folder, "before", [texts], tau)
        planned.write_text(evenflow("coverage", "plan", *common, "--json"))
        told = json.loads(
            evenflow("coverage", "generate", *common, "--plan", planned, "--out", made, "--json")
        )
        after = judged(folder, "after", [texts, made], tau)
        rows = [json.loads(line) for line in made.open(encoding="utf-8")]
        done = Counter(" ".join(each["asked_for"].values()) for each in rows)
    table = Table("gap", "sentences before", "added", "after", title=f"τ {tau}")
    counted = Counter[str]()
    for key, number in after["coverage"]["records"].items():
        values = json.loads(key)
        for pattern in {f"{group} {values[1][0]}" for group in values[0]} | {*values[0]}:
            counted[pattern] += number
    for gap, number in gaps(before).items():
        table.add_row(gap, f"{number:,}", f"{done[gap]:,}", f"{counted[gap]:,}")
    console.print(table)
    first, last = before["coverage"], after["coverage"]
    console.print(
        f"verdict {first['verdict']['state']} → {last['verdict']['state']}; largest gap"
        f" {first['rolling']['largest']:.1%} → {last['rolling']['largest']:.1%};"
        f" {told['written']:,} of {told['wanted']:,} written from {told['asked']:,} candidates;"
        f" rejected: {told['rejected']}\n"
    )
    for each in random.Random(1).sample(rows, min(SHOWN, len(rows))):
        console.print(f"- {each['text']}", markup=False)


if __name__ == "__main__":
    given = sys.argv[1:]
    which = given.pop(0) if given[:1] in (["speeches"], ["read"]) else "speeches"
    for each in given or ("60", "120", "150"):
        closes(Console(width=110), which, each)
