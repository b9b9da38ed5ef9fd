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
from evenflow.pipelines.cli.commands import examples, one_of
from evenflow.pipelines.terminal.endings import Session, logs, printing, report_event
from evenflow.transforms.storage.storage import Storage, at

if TYPE_CHECKING:
    from evenflow.pipelines.lab.train.finetune import Progress

EXAMPLES = examples(
    "evenflow lab finetune --data out --model build/models/smollm2 --output adapter",
    "evenflow lab finetune --data out --pane 0..7 --model smollm2 --output a --steps 100",
    "evenflow lab finetune --data out --model bert --output b --objective mlm --rank 0",
    "evenflow lab finetune --data out --model smollm2 --output merged --merge",
    "evenflow lab finetune --data out --model smollm2 --output c --weights sample",
)
LINE_SECONDS = 5.0  # between two lines of progress


def finetune(
    context: typer.Context,
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
    config: Annotated[
        Path | None,
        typer.Option("--config", "-c", metavar="FILE", help="YAML file with a section finetune."),
    ] = None,
    sets: options.SetOption = None,
    pane: options.PaneOption = None,
    quarantined: Annotated[
        str | None,
        typer.Option(
            metavar="WHAT",
            help="Panes in quarantine: refuse (default with --pane), skip or take.",
        ),
    ] = None,
    objective: Annotated[
        str | None, typer.Option(metavar="NAME", help="causal or mlm.  [default: causal]")
    ] = None,
    rank: Annotated[
        int | None, typer.Option(metavar="N", help="Rank of LoRA; 0: all weights.  [default: 16]")
    ] = None,
    rate: Annotated[
        float | None, typer.Option(metavar="R", help="Learning rate.  [default: 0.0002]")
    ] = None,
    batch: Annotated[
        int | None, typer.Option(metavar="N", help="Sequences in a step.  [default: 512]")
    ] = None,
    micro_batch: Annotated[
        int | None, typer.Option(metavar="N", help="Sequences at once.  [default: 8]")
    ] = None,
    tokens: Annotated[
        int | None,
        typer.Option("--context", metavar="N", help="Tokens in a sequence.  [default: 512]"),
    ] = None,
    epochs: Annotated[
        float | None, typer.Option(metavar="N", help="Passes over the data.  [default: 10]")
    ] = None,
    steps: Annotated[int | None, typer.Option(metavar="N", help="Steps, for any epochs.")] = None,
    seed: Annotated[int | None, typer.Option(metavar="N", help="Seed.  [default: 0]")] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="HOW", help="Weights of documents: loss, sample or off.  [default: loss]"
        ),
    ] = None,
    merge: Annotated[
        bool, typer.Option("--merge", help="Save a whole model, with LoRA's weights added.")
    ] = False,
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
    from evenflow.schemas.config import load

    if quarantined is not None:
        one_of(quarantined, ("refuse", "skip", "take"), "--quarantined")
    given = {
        "objective": objective,
        "rank": rank,
        "rate": rate,
        "batch": batch,
        "micro_batch": micro_batch,
        "context": tokens,
        "epochs": epochs,
        "steps": steps,
        "seed": seed,
        "weights": weights,
        "merge": merge or None,
    }
    chosen = {f"finetune.{key}": value for key, value in given.items() if value is not None}
    settings = load(config, chosen, sets=sets or ()).finetune
    session: Session = context.obj
    logs(session)
    session.output, session.resumable = at(output), True
    found = select(data, options.panes(pane), quarantined)  # type: ignore[arg-type]
    if found.skipped:
        report_event("note", f"panes in quarantine that are left out: {found.skipped}", 0, session)
    show = _lines(session, quiet)
    made = train(found, model, output, settings, show)
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
