"""`evenflow lab finetune` and `promote`: a model trained on what a gate accepted."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, one_of, option
from evenflow.pipelines.cli.keys import FINETUNE
from evenflow.pipelines.terminal.endings import Session, logs, report_event, show
from evenflow.pipelines.terminal.pace import left, lines
from evenflow.transforms.storage.storage import Storage, at

if TYPE_CHECKING:
    from evenflow.pipelines.lab.train.finetune import Progress


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
    data: Annotated[Storage, option("DIR", "Output of a gate.", parser=options.storage)],
    model: Annotated[str, option("DIR|NAME", "Folder of a model, or a name in build/models.")],
    output: Annotated[Path, option("DIR", "Where the adapter goes.", "--output", "-o")],
    settings: options.Settings,
    adapter: Annotated[
        Path | None, option("DIR", "Adapter of the model that training starts from.")
    ] = None,
    pane: options.PaneOption = None,
    quarantined: Annotated[
        str | None,
        option("WHAT", "Panes in quarantine: refuse (default with --pane), skip or take."),
    ] = None,
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Fine-tune a language model with LoRA on the documents that a gate accepted.

    Writes the adapter (with --merge the whole model), the tokenizer and training.json. If it was
    killed, run it again: it goes on from its last checkpoint and ends with the same result. It
    needs the extra `train`.
    """
    from evenflow.pipelines.lab.train.finetune import finetune as train
    from evenflow.pipelines.lab.train.rows import select

    if quarantined is not None:
        one_of(quarantined, ("refuse", "skip", "take"), "--quarantined")
    chosen = settings.configuration().finetune
    session: Session = context.obj
    logs(session)
    session.output, session.resumable = at(output), True
    found = select(
        data,
        options.panes(pane),
        quarantined,  # type: ignore[arg-type]
        chosen.window,
        chosen.replay,
    )
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
        f" {left(done.left)}"
    )


def _draw(made: dict[str, Any]) -> None:
    """Print how a training went."""
    from evenflow.pipelines.lab.train.finetune import described

    read, how = made["data"], made["settings"]
    early = f", after step {made['best_step']} the best" if "best_step" in made else ""
    print(
        f"{read['documents']:,} documents, {read['tokens']:,} tokens;"
        f" {len(made['losses'])} steps{early}, of {how['batch']} x {how['context']} tokens;"
        f" {described(made['losses'])}"
    )


@command("evenflow lab promote --model m --trained a2 --last a1 --suite hellaswag")
def promote(
    model: Annotated[str, option("DIR|NAME", "The model as it is.")],
    trained: Annotated[Path, option("DIR", "The new adapter or model.")],
    suite: Annotated[list[str], option("NAME[:KIND]", "A benchmark; repeatable.")],
    last: Annotated[Path | None, option("DIR", "The last adapter or model.")] = None,
    base_output: Annotated[Path | None, option("DIR", "Benchmarks of the model as it is.")] = None,
    margin: Annotated[float, option(None, "By how much a figure may be worse.")] = 0.05,
    items: Annotated[int | None, option(None, "Most items of each.", min=1)] = None,
    benchmark_data: Annotated[
        Path | None, option("DIR", "Files of benchmarks that do not ship.")
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Decide whether a model that was trained is no worse than the one before, in ability and bias.

    Asks all three models the same items. Writes the benchmarks and decision.json to the trained
    model's name with `.checked`. It needs the extra `train`.
    """
    from evenflow.pipelines.lab.train.promote import promote as decide

    place = base_output or trained.with_name("base.checked")
    made = decide(model, trained, last, place, suite, margin, benchmark_data, items)
    show(made, as_json, lambda made: print(made["reason"]))
