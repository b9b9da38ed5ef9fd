"""`evenflow lab finetune`: train a model on accepted documents."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, one_of
from evenflow.pipelines.cli.keys import FINETUNE
from evenflow.pipelines.terminal.endings import Session, logs, printing, report_event
from evenflow.transforms.storage.storage import Storage, at

if TYPE_CHECKING:
    from evenflow.pipelines.lab.train.finetune import Progress

LINE_SECONDS = 5.0  # between two lines of progress


@command(
    "evenflow lab finetune --data out --model smollm2 --output adapter",
    "evenflow lab finetune --data out --pane 0..7 --model m -o a --steps 100",
    "evenflow lab finetune --data out --model bert -o b --objective mlm --rank 0",
    "evenflow lab finetune --data out --model smollm2 --output merged --merge",
    "evenflow lab finetune --data out --model m -o c --weights sample",
    options=FINETUNE,
)
def finetune(
    context: typer.Context,
    *,
    data: Annotated[
        Storage,
        typer.Option(metavar="DIR", parser=options.storage, help="Output of a gate."),
    ],
    model: Annotated[
        str, typer.Option(metavar="DIR|NAME", help="Folder of a model, or a name in build/models.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the adapter goes.")
    ],
    settings: options.Settings,
    pane: options.PaneOption = None,
    quarantined: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Panes in quarantine: refuse (default with --pane), skip or take.",
        ),
    ] = None,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress.")] = False,
    as_json: options.JsonOption = False,
) -> None:
    """Fine-tune a language model with LoRA on the documents that a gate accepted.

    Writes the adapter (with --merge the whole model), the tokenizer and training.json. If it was
    killed, run it again: it goes on from its last checkpoint and ends with the same result. It
    needs the extra `train`.
    """
    from evenflow.pipelines.lab.train.finetune import described
    from evenflow.pipelines.lab.train.finetune import finetune as train
    from evenflow.pipelines.lab.train.rows import select

    if quarantined is not None:
        one_of(quarantined, ("refuse", "skip", "take"), "--quarantined")
    chosen = settings.configuration().finetune
    session: Session = context.obj
    logs(session)
    session.output, session.resumable = at(output), True
    found = select(data, options.panes(pane), quarantined)  # type: ignore[arg-type]
    if found.skipped:
        report_event("note", f"panes in quarantine that are left out: {found.skipped}", 0, session)
    show = _lines(session, quiet)
    made = train(found, model, output, chosen, show)
    with printing():
        if as_json:
            print(json.dumps({"output": str(output), **made}))
        else:
            read, how = made["data"], made["settings"]
            early = f", after step {made['best_step']} the best" if "best_step" in made else ""
            print(
                f"{read['documents']:,} documents, {read['tokens']:,} tokens;"
                f" {len(made['losses'])} steps{early}, of {how['batch']} x {how['context']} tokens;"
                f" {described(made['losses'])}"
            )


def _lines(session: Session, quiet: bool) -> Callable[[Progress], None]:
    """What prints progress: a line in LINE_SECONDS, and the last step."""
    last = -LINE_SECONDS if sys.stderr.isatty() else time.monotonic()

    def show(done: Progress) -> None:
        nonlocal last
        session.go_on()
        now = time.monotonic()
        if quiet or (now - last < LINE_SECONDS and done.step < done.steps):
            return
        last = now
        minutes, seconds = divmod(round(done.left), 60)
        text = (
            f"step {done.step} of {done.steps}, loss {done.loss:.4f}, {done.rate:,.0f} tokens/s,"
            f" {minutes}:{seconds:02} left"
        )
        report_event("progress", text, 0, session)

    return show
