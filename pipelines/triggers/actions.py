"""One attempt of an action: a command, a webhook, a training or a benchmark."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import yaml

import evenflow.transforms.llm.client.guard as guard
from evenflow.gates.posting import Sender
from evenflow.gates.triggers import FOLDER, Decision, Figures
from evenflow.pipelines.triggers import models
from evenflow.schemas.config import Config
from evenflow.schemas.config.triggers import Trigger, Webhook
from evenflow.schemas.hidden import read_word, without
from evenflow.schemas.secrets import SecretError
from evenflow.transforms.storage.storage import Storage

TAIL = 4096  # bytes of a command's output that are kept
CHUNK = 1 << 16
LOOK = 0.1  # seconds between two looks at a command
CLI = "from evenflow.pipelines.cli.app import main; main()"


@dataclass(frozen=True)
class Attempt:
    """How an attempt ended.

    Attributes:
        ok: Whether it did what it should.
        message: Exit status or error, in a sentence.
        output: The end of what it printed.
        hopeless: Whether another attempt would end the same way.
        figures: Figures of a benchmark by suite.
        promoted: Whether what was trained was promoted; None where nobody asked.
    """

    ok: bool
    message: str
    output: str = ""
    hopeless: bool = False
    figures: Figures = field(default_factory=dict)
    promoted: bool | None = None


class Interrupted(Exception):  # noqa: N818 (no error: the process is asked to stop)
    """The process is asked to stop while an action is under way."""


def attempt(output: Storage, config: Config, decision: Decision, stop: threading.Event) -> Attempt:
    """Try a rule's action once.

    Args:
        output: The gate's output.
        config: The configuration, which has the rule.
        decision: Why the rule fired.
        stop: Set it to end the action.

    Returns:
        How it ended.

    Raises:
        Interrupted: It was ended by `stop`.
    """
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

    def run(*words: str) -> Attempt:
        own = [sys.executable, "-c", CLI, *words]
        return _command(own, output, decision, rule.timeout, stop)

    ended = run(*_words(rule, config, decision, output.local, made))
    if not ended.ok:
        return ended
    if rule.benchmark is not None:
        return replace(ended, figures=_figures(made / decision.key))
    if rule.finetune is None:
        return ended
    if (wanted := rule.finetune.promote) is not None:
        asked = run(*models.comparison(rule.finetune, wanted, made, decision))
        if not asked.ok:
            return asked
        decided = models.decided(made / decision.key)
        figures = _figures(models.checked(made / decision.key)) if decided["promoted"] else {}
        ended = replace(
            ended, message=decided["reason"], figures=figures, promoted=decided["promoted"]
        )
    models.prune(rule.finetune, made, decision)
    return ended


def _figures(folder: Path) -> Figures:
    """The figures of a benchmark."""
    results: Any = json.loads((folder / "results.json").read_text(encoding="utf-8"))
    return {
        suite: {key: each.get(key) for key in ("figure", "low", "high")}
        for suite, each in results["suites"].items()
    }


def _words(
    rule: Trigger, config: Config, decision: Decision, output: Path, made: Path
) -> list[str]:
    """The command line of a training or a benchmark; its result goes to a folder of its own."""
    target = made / decision.key
    if rule.finetune is not None:
        settings = made / f"{decision.key}.yaml"  # not as JSON, whose 2e-05 is a text in YAML 1.1
        settings.write_text(yaml.safe_dump({"finetune": config.finetune.model_dump()}))
        words = ["lab", "finetune", "--data", str(output), "--pane", f"0..{decision.pane}"]
        last = models.last(rule.finetune, made, decision) if rule.finetune.warm else None
        words += ["--quarantined", "skip", *models.words(rule.finetune.model, last)]
        return [*words, "--output", str(target), "--config", str(settings), "--quiet"]
    own = rule.benchmark
    assert own is not None
    trained = made / f"{rule.after}.{decision.pane:08d}"
    there = (trained / "training.json").exists()
    words = ["lab", "benchmark", *models.words(own.model, trained if there else None)]
    words += ["--output", str(target)]
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
