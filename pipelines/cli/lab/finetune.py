"""`evenflow lab finetune` and `promote`: a model trained on what a gate accepted."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import Session, logs, report_event, show
from evenflow.pipelines.terminal.pace import lines
from evenflow.schemas.words import duration
from evenflow.transforms.storage.storage import at

if TYPE_CHECKING:
    from evenflow.pipelines.lab.train.finetune import Progress


@command(
    "evenflow lab finetune --data out --model smollm2 --output adapter",
    "evenflow lab finetune --data out --pane 0..7 --model m -o a --steps 100",
    "evenflow lab finetune --data out --model bert -o b --objective mlm",
    "evenflow lab finetune --data out --model smollm2 --output merged --merge",
    "evenflow lab finetune --data out --model m -o c --set finetune.weights=off",
    keys=[f"finetune.{name}" for name in ("objective", "steps", "merge")],
    section="finetune",
)
def lab_finetune(
    *,
    data: options.Output,
    model: str,
    output: Path,
    settings: options.Settings,
    adapter: Path | None = None,
    pane: options.Panes | None = None,
    quarantined: Literal["refuse", "skip", "take"] | None = None,
    session: Session,
    quiet: bool = False,
    as_json: bool = False,
) -> None:
    """Fine-tune a language model on what a gate accepted, with LoRA.

    Writes the adapter (with --merge the whole model), the tokenizer and training.json. If it was
    killed, run it again: it goes on from its last checkpoint and ends with the same result. It
    needs the extra `train`.

    Args:
        data (DIR): Output of a gate.
        model (DIR|NAME): Folder of a model, or a name in build/models.
        output (DIR): Where the adapter goes.
        adapter (DIR): Adapter of the model that training starts from.
        quarantined: What is done about panes in quarantine.  [default: refuse with --pane, else
            skip]
    """
    from evenflow.pipelines.lab.train.finetune import finetune as train
    from evenflow.pipelines.lab.train.rows import select

    chosen = settings.configuration().finetune
    logs(session)
    session.output, session.resumable = at(output), True
    found = select(data, pane, quarantined, chosen.window, chosen.replay)
    if found.skipped:
        report_event("note", f"panes in quarantine that are left out: {found.skipped}", 0, session)
    on_step = lines(
        session, quiet, _line, lambda done: done.step >= done.steps, sys.stderr.isatty()
    )
    made = train(found, model, output, chosen, on_step, adapter=adapter)
    show({"output": str(output), **made}, as_json, _draw)


def _line(done: Progress) -> str:
    """The progress of a training."""
    return (
        f"step {done.step} of {done.steps}, loss {done.loss:.4f}, {done.rate:,.0f} tokens/s,"
        f" {duration(done.left)} left"
    )


def _draw(made: dict[str, Any]) -> None:
    """Print how a training went."""
    from evenflow.pipelines.lab.train.finetune import described

    read, how = made["data"], made["settings"]
    print(
        f"{read['documents']:,} documents, {read['tokens']:,} tokens;"
        f" {len(made['losses'])} steps of {how['batch']} x {how['context']} tokens;"
        f" {described(made['losses'])}"
    )


@command("evenflow lab promote --model m --trained a2 --last a1 --suite hellaswag")
def lab_promote(
    *,
    model: str,
    trained: Path,
    suite: Sequence[str],
    last: Path | None = None,
    base_output: Path | None = None,
    margin: float = 0.05,
    items: options.Count | None = None,
    benchmark_data: Path | None = None,
    as_json: bool = False,
) -> None:
    """Decide whether a trained model is no worse than the one before.

    Asks all three models the same items. Writes the benchmarks and decision.json to the trained
    model's name with `.checked`. It needs the extra `train`.

    Args:
        model (DIR|NAME): The model as it is.
        trained (DIR): The new adapter or model.
        suite (NAME[:KIND]): A benchmark; repeatable.
        last (DIR): The last adapter or model.
        base_output (DIR): Benchmarks of the model as it is.
        margin: By how much a figure may be worse.
        items: Most items of each.
        benchmark_data (DIR): Files of benchmarks that do not ship.
    """
    from evenflow.pipelines.lab.train.promote import promote as decide

    place = base_output or trained.with_name("base.checked")
    made = decide(model, trained, last, place, suite, margin, benchmark_data, items)
    show(made, as_json, lambda made: print(made["reason"]))
