"""`evenflow lab finetune`: a model trained on what a gate accepted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import Session, logs
from evenflow.pipelines.terminal.pace import lines
from evenflow.schemas.words import duration
from evenflow.transforms.storage.storage import at

if TYPE_CHECKING:
    from evenflow.pipelines.lab.train.finetune import Progress


@command([f"finetune.{name}" for name in ("objective", "steps", "merge")], "finetune")
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
) -> options.Shown:
    """Fine-tune a language model on what a gate accepted, with LoRA.

    Writes the adapter (with --merge the whole model), the tokenizer and training.json. If it was
    killed, run it again: it goes on from its last checkpoint and ends with the same result. It
    needs the extra `lab`.

    Args:
        data (DIR): Output of a gate.
        model (DIR|NAME): Folder of a model, or a name in build/models.
        output (DIR): Where the adapter goes.
        adapter (DIR): Adapter of the model that training starts from.
        quarantined: What is done about panes in quarantine.  [default: refuse with --pane, else
            skip]

    Examples:
        evenflow lab finetune --data out --model smollm2 --output adapter
        evenflow lab finetune --data out --pane 0..7 --model m -o a --steps 100
        evenflow lab finetune --data out --model bert -o b --objective mlm
        evenflow lab finetune --data out --model smollm2 --output merged --merge
        evenflow lab finetune --data out --model m -o c --set finetune.weights=off
    """
    from evenflow.pipelines.lab.train.finetune import finetune as train
    from evenflow.pipelines.lab.train.rows import select

    chosen = settings.configuration().finetune
    logs(session)
    session.output, session.resumable = at(output), True
    found = select(data, pane, quarantined, chosen.window, chosen.replay)
    if found.skipped:
        session.note(f"panes in quarantine that are left out: {found.skipped}")
    on_step = lines(
        session, quiet, _line, lambda done: done.step >= done.steps, sys.stderr.isatty()
    )
    made = train(found, model, output, chosen, on_step, adapter=adapter)
    return options.Shown({"output": str(output), **made}, _draw)


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
