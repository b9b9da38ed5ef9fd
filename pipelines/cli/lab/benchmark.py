"""`evenflow lab benchmark`: how able and how biased a language model is."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.terminal.endings import Session, show
from evenflow.pipelines.terminal.pace import left, lines
from evenflow.transforms.storage.storage import Storage

if TYPE_CHECKING:
    from evenflow.pipelines.lab.train.benchmark import AskedModel, SuiteProgress

Pooling = Literal["first", "last", "mean", "max"]


@command(
    "evenflow lab benchmark --model smollm2 --suite hellaswag --output b",
    "evenflow lab benchmark --model m --adapter l --suite crows_pairs:gender -o b",
    "evenflow lab benchmark --model bert --suite stereoset --suite seat -o c",
    "evenflow lab benchmark --model bert --pooling mean --suite senteval -o e",
    "evenflow lab benchmark --model q --llm http://host:8000 --suite soct -o d",
)
def benchmark(
    context: typer.Context,
    model: Annotated[
        str, option("DIR|NAME", "Folder of a model, or a name: in build/models or at --llm.")
    ],
    suite: Annotated[
        list[str],
        option(
            "NAME[:KIND]",
            "hellaswag, redditbias, honest, crows_pairs, bbq, soct, stereoset, seat or"
            " senteval; with a kind these items alone (crows_pairs:gender); repeatable.",
        ),
    ],
    output: Annotated[
        Storage,
        option(
            "DIR",
            "Where results go: a directory, or s3://…, gs://…, az://….",
            "--output",
            "-o",
            parser=options.storage,
        ),
    ],
    adapter: Annotated[Path | None, option("DIR", "LoRA adapter of the model.")] = None,
    pooling: Annotated[
        Pooling | None,
        option(
            "HOW",
            "first, last, mean or max: which tokens' vectors stand for a sentence, for seat"
            " and senteval.  [default: as"
            " the model's folder says; else the first, of a causal model the last]",
        ),
    ] = None,
    benchmark_data: Annotated[
        Path | None, option("DIR", "Folder with files of benchmarks, before those shipped.")
    ] = None,
    items: Annotated[
        int | None, option("N", "Most items of a suite; always the same ones.", min=1)
    ] = None,
    seed: Annotated[int, option("N", "Seed of what is drawn.")] = 0,
    batch: Annotated[int, option("N", "Items that are asked at once.", min=1)] = 16,
    llm: Annotated[
        str | None, option("URL", "OpenAI-compatible server of the model; for honest, bbq, soct.")
    ] = None,
    quiet: options.QuietOption = False,
    as_json: options.JsonOption = False,
) -> None:
    """Measure a language model on benchmarks of ability and bias, with intervals.

    Writes results.json, results.html and a line for each item. If it was killed, run it again: it
    goes on and ends with the same figures. It needs the extra `train`, except with --llm.
    """
    from evenflow.pipelines.lab.train.benchmark import benchmark as run
    from evenflow.pipelines.lab.train.errors import TrainInputError
    from evenflow.pipelines.terminal.benchmark_table import table

    session: Session = context.obj
    session.output, session.resumable = output, True
    if benchmark_data is not None and not benchmark_data.is_dir():
        raise TrainInputError(f"{benchmark_data}: there is no such folder of files of benchmarks")
    asked: str | AskedModel = model
    if pooling is not None:
        from evenflow.transforms.lab.benchmarks.asking import Models

        asked = Models(model, None if adapter is None else str(adapter), pooling)
    if llm is not None:
        from evenflow.transforms.lab.benchmarks.served import ServedModel

        asked = ServedModel(llm, model)
    found = run(
        asked,
        output,
        suite,
        adapter=None if adapter is None else str(adapter),
        data=benchmark_data,
        items=items,
        seed=seed,
        batch=batch,
        on_batch=lines(session, quiet, _line(), lambda done: done.done >= done.total),
    )
    show(found, as_json, lambda found: table(found, suite))


def _line() -> Callable[[SuiteProgress], str]:
    """What says the progress of a suite."""
    began: dict[str, float] = {}

    def text(done: SuiteProgress) -> str:
        now = time.monotonic()
        # From the first batch on, so that loading the model is not counted
        start = began.setdefault(done.suite, now)
        line = f"{done.suite}: {done.done:,} of {done.total:,} items"
        if done.new <= done.first or now <= start:
            return line
        rate = (done.new - done.first) / (now - start)
        return f"{line}, {rate:.1f} items/s, {left((done.total - done.done) / rate)}"

    return text
