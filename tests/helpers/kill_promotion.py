"""Kills trainings with promotion at moments spread over them: python kill_promotion.py FOLDER

What trains and what answers items is made up, in this process, so that a kill may fall anywhere.
"""

from __future__ import annotations

import itertools
import json
import sys
from pathlib import Path
from typing import Any

from kill_anywhere import evenly, killed_runs, wrong

from evenflow.gates import triggers
from evenflow.gates.triggers import Decision
from evenflow.pipelines.cli.app import application
from evenflow.pipelines.lab.train import promote
from evenflow.pipelines.triggers import actions
from evenflow.pipelines.triggers.actions import Attempt
from evenflow.pipelines.triggers.worker import act
from evenflow.schemas.config import Config

PANES, KEPT, ITEMS = 5, 1, 200
GOOD = {"base": 0.5, "0": 0.7, "1": 0.1, "2": 0.8, "3": 0.2, "4": 0.9}  # right answers, by model
KILLS = 25


def lab(words: list[str], output: Any, decision: Decision, *_: Any) -> Attempt:
    """Do what a command of the laboratory does."""
    command = application().commands["lab"].commands[words[4]]
    command.make_context(words[4], [*words[5:]])  # it is there, and takes these options
    named = dict(itertools.pairwise(words))
    if words[4] == "finetune":
        return finetune(Path(named["--output"]), named.get("--adapter", ""))
    last = named.get("--last")
    suites, margin = [named["--suite"]], float(named["--margin"])
    trained = Path(named["--trained"])
    base = trained.with_name(f"{trained.stem}.base")
    promote.promote("model", trained, Path(last) if last else None, base, suites, margin)
    return Attempt(True, "exit status 0")


def finetune(target: Path, start: str) -> Attempt:
    """Begin, or go on only from what the training was begun with."""
    target.mkdir(exist_ok=True)
    begun = target / "settings.txt"
    if begun.exists() and begun.read_text() not in ("", start):
        return Attempt(False, "begun with another adapter")
    for name, text in {"settings.txt": start, "adapter_config.json": "", "weights": ""}.items():
        (target / name).write_text(text)
    (target / "training.part").write_text("{}")
    (target / "training.part").rename(target / "training.json")
    return Attempt(True, "exit status 0")


def benchmark(model: str, output: Path, suites: list[str], **_: Any) -> dict[str, Any]:
    """Answer items, once."""
    rows = [{"item": str(n), "values": [n]} for n in range(ITEMS)]
    (output / "items").mkdir(parents=True, exist_ok=True)
    for suite in suites:
        (output / "items" / f"{suite}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    number = output.name.split(".")[1].lstrip("0") or "0"
    figure = GOOD["base" if number == "base" else number]
    found = {"suites": {each: {"figure": figure, "better": "higher"} for each in suites}}
    (output / "results.json").write_text(json.dumps(found))
    return found


def paired(new: Path, old: Path) -> dict[str, Any]:
    """The difference of two models that answered."""
    own, other = (
        json.loads((each.parents[1] / "results.json").read_text())["suites"][each.stem]["figure"]
        for each in (new, old)
    )
    return {"low": own - other - 0.02, "high": own - other + 0.02, "n": ITEMS}


def work(output: Path) -> None:
    """Train on each pane, and act."""
    actions._command = lab  # pyright: ignore[reportPrivateUsage]
    promote.benchmark, promote.paired = benchmark, paired
    action = {"model": "model", "warm": True, "keep": KEPT, "promote": {"suites": ["s"]}}
    rule = {"finetune": action, "tries": 1}
    config = Config.model_validate({"triggers": {"train": rule}})
    for pane in range(PANES):
        decision = Decision(rule="train", pane=pane, reason="x")
        triggers.write_decision(output, decision)
        act(output, config)


def result(output: Path) -> Any:
    """What was promoted, and what stays; the last ones, and nothing besides."""
    made = output / "triggers" / "models"
    outcomes = [(each.outcome, each.promoted, each.message) for each in triggers.history(output)]
    assert [promoted for _, promoted, _ in outcomes] == [True, False, True, False, True], outcomes
    stay = sorted(each.name for each in made.iterdir() if each.is_dir())
    numbers = sorted({name.split(".")[1] for name in stay})
    assert numbers == ["00000003", "00000004", "base"], stay  # one aside, one promoted
    for number in numbers[:-1]:  # both went on from the one promoted before
        started = (made / f"train.{number}" / "settings.txt").read_text()
        assert started.endswith("train.00000002")
    return outcomes, stay


if __name__ == "__main__":
    if found := wrong(killed_runs(work, Path(sys.argv[1]) / "work", result, evenly(KILLS))):
        sys.exit("\n".join(map(str, found)))
