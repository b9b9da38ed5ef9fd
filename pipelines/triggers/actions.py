"""One attempt of an action: a command, a webhook, a training, a benchmark or an experiment."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

import evenflow.pipelines.triggers.guard as guard
from evenflow.gates.posting import Sender
from evenflow.gates.triggers import FOLDER, Decision, Figures
from evenflow.pipelines.triggers import models
from evenflow.schemas.config import Config
from evenflow.schemas.config.triggers import ExperimentAction, FinetuneAction, Trigger, Webhook
from evenflow.schemas.errors import EvenflowError
from evenflow.schemas.secrets import SecretError, read_word, without
from evenflow.transforms.storage.storage import Storage

TAIL = 4096  # bytes of a command's output that are kept
CHUNK = 1 << 16
LOOK = 0.1  # seconds between two looks at a command
CLI = "from evenflow.pipelines.cli.app import main; main()"


@dataclass(frozen=True)
class Attempt:
    """How an attempt ended."""

    ok: bool
    message: str
    output: str = ""
    hopeless: bool = False
    figures: Figures = field(default_factory=dict)
    promoted: bool | None = None


Run = Callable[[Sequence[str]], Attempt]  # of a command of the laboratory


class Interrupted(Exception):  # noqa: N818 (no error: the process is asked to stop)
    """The process is asked to stop while an action is under way."""


def attempt(output: Storage, config: Config, decision: Decision, stop: threading.Event) -> Attempt:
    """Try a rule's action once."""
    rule = config.triggers[decision.rule]
    if rule.command is not None:
        try:
            words = [read_word(each) for each in rule.command]
        except SecretError as error:
            return Attempt(False, str(error))
        found = _command(words, output, decision, rule.timeout, stop)
        hidden = (word for word, given in zip(words, rule.command, strict=True) if word != given)
        return replace(found, output=without(found.output, hidden))
    if rule.webhook is not None:
        return _webhook(rule.webhook, output, decision, rule.timeout)
    if output.local is None:
        text = "models are trained and measured beside a local output alone; give a command"
        return Attempt(False, text, hopeless=True)
    made = output.local / FOLDER / "models"
    made.mkdir(parents=True, exist_ok=True)

    def run(words: Sequence[str]) -> Attempt:
        own = [sys.executable, "-c", CLI, "lab", *words]
        return _command(own, output, decision, rule.timeout, stop)

    try:
        if rule.finetune is not None:
            return _finetune(rule.finetune, config, decision, made, run)
        if rule.experiment is not None:
            return _experiment(rule.experiment, decision, made, run)
    except EvenflowError as error:
        return Attempt(False, str(error), hopeless=True)
    ended = run(_benchmark(rule, decision, made))
    return replace(ended, figures=_figures(made / decision.key)) if ended.ok else ended


def _finetune(
    own: FinetuneAction, config: Config, decision: Decision, made: Path, run: Run
) -> Attempt:
    """Train a model, decide on it where that is wanted, and remove older ones."""
    target, ended = made / decision.key, Attempt(True, "exit status 0")
    # What a kill left between the decision and the outcome is not trained again: `prune` may have
    # removed the model that it started from
    if not models.finished(own, target):
        settings = made / f"{decision.key}.yaml"  # not as JSON, whose 2e-05 is a text in YAML 1.1
        settings.write_text(yaml.safe_dump({"finetune": config.finetune.model_dump()}))
        last = models.last(own, made, decision) if own.warm else None
        words = ["finetune", "--data", str(_output(made)), "--pane", f"0..{decision.pane}"]
        words += ["--quarantined", "skip", *models.words(own.model, last)]
        ended = run([*words, "--output", str(target), "--config", str(settings), "--quiet"])
        if ended.ok and own.promote is not None:
            asked = run(models.comparison(own, own.promote, made, decision))
            ended = asked if not asked.ok else ended
        if not ended.ok:
            return ended
    if own.promote is not None:
        found = models.decided(target)
        figures = _figures(models.checked(target)) if found["promoted"] else {}
        ended = replace(ended, message=found["reason"], figures=figures, promoted=found["promoted"])
    models.prune(own, made, decision)
    return ended


def _experiment(own: ExperimentAction, decision: Decision, made: Path, run: Run) -> Attempt:
    """Run the paper's experiment on what was accepted so far."""
    target = made / decision.key
    words = ["paper", own.file, "--data", str(_output(made)), "--pane", f"0..{decision.pane}"]
    ended = run([*words, "--output", str(target.absolute()), "--quiet"])
    if not ended.ok:
        return ended
    found = json.loads((target / "paper.json").read_text(encoding="utf-8"))
    return replace(ended, message=found["may_be_concluded"][0])


def _output(made: Path) -> Path:
    """The gate's output that models are made beside."""
    return made.parents[1]


def _figures(folder: Path) -> Figures:
    """The figures of a benchmark."""
    results: Any = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return {
        suite: {key: each.get(key) for key in ("figure", "low", "high")}
        for suite, each in results["suites"].items()
    }


def _benchmark(rule: Trigger, decision: Decision, made: Path) -> list[str]:
    """The command line of a benchmark; after a rule, of the model that this one trained."""
    own = rule.benchmark
    assert own is not None
    trained = made / f"{rule.after}.{decision.pane:08d}"
    there = (trained / "training.json").exists()
    words = ["benchmark", *models.words(own.model, trained if there else None)]
    words += ["--output", str(made / decision.key)]
    for suite in own.suites:
        words += ["--suite", suite]
    for option, value in (("--items", own.items), ("--benchmark-data", own.data)):
        words += [option, str(value)] if value is not None else []
    return words


def _command(
    words: Sequence[str],
    output: Storage,
    decision: Decision,
    timeout: float,
    stop: threading.Event,
) -> Attempt:
    """Run a command that ends with this process, and keep the end of what it prints."""
    program = shutil.which(words[0])
    if program is None:
        return Attempt(False, f"{words[0]}: there is no such command", hopeless=True)
    own = {
        "EVENFLOW_RULE": decision.rule,
        "EVENFLOW_PANE": str(decision.pane),
        "EVENFLOW_OUTPUT": str(output),
    }
    process = subprocess.Popen(
        [sys.executable, "-I", "-S", guard.__file__, "0", program, *words[1:]],
        stdin=subprocess.PIPE,  # its closing, also by this process' death, ends the guard
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env={**os.environ, **own},
        start_new_session=True,  # an interrupt from the terminal is for this process
    )
    tail = bytearray()
    reader = threading.Thread(target=_read, args=(process.stdout, tail), daemon=True)
    reader.start()
    until = time.monotonic() + timeout
    while process.poll() is None and time.monotonic() < until and not stop.wait(LOOK):
        pass
    status = process.poll()
    assert process.stdin is not None
    process.stdin.close()
    process.wait()
    reader.join(5)
    printed = bytes(tail).decode("utf-8", "replace")
    if status is None and stop.is_set():
        raise Interrupted
    if status is None:
        return Attempt(False, f"it was ended after {timeout:g} s", printed)
    if status < 0:
        return Attempt(False, f"it was ended by signal {-status}", printed)
    return Attempt(status == 0, f"exit status {status}", printed)


def _read(source: Any, tail: bytearray) -> None:
    """Read to the end, and keep the last bytes."""
    with suppress(OSError, ValueError):
        while chunk := source.read1(CHUNK):
            tail += chunk
            del tail[:-TAIL]


def _webhook(hook: Webhook, output: Storage, decision: Decision, timeout: float) -> Attempt:
    """Send a decision."""
    try:
        sender = Sender(hook.url, timeout, key=hook.key)
    except SecretError as error:
        return Attempt(False, str(error))
    return Attempt(*sender.send({**decision.model_dump(), "output": str(output)}, decision.key))
