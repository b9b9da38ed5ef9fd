"""`evenflow lab benchmark`: how able and how biased a language model is."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.endings import Session
from evenflow.pipelines.terminal.pace import lines
from evenflow.schemas.words import duration

if TYPE_CHECKING:
    from evenflow.pipelines.lab.train.benchmark import SuiteProgress


def lab_benchmark(
    *,
    model: str,
    suite: Sequence[str],
    output: options.Output | None = None,
    adapter: Path | None = None,
    trained: Path | None = None,
    last: Path | None = None,
    margin: float = 0.05,
    benchmark_data: Path | None = None,
    items: options.Count | None = None,
    seed: int = 0,
    batch: options.Count = 16,
    session: Session,
) -> options.Shown:
    """Measure a language model on benchmarks of ability and bias.

    Writes results.json and a line for each item. If it was killed, run it again: it
    goes on and ends with the same figures. It needs the extra `lab`.

    With --trained it decides whether a new adapter or model is no worse than the one before: all
    three models are asked the same items. Benchmarks and decision.json go to the trained model's
    name with `.checked`, those of the model as it is to its name with `.base`.

    Args:
        model (DIR|NAME): Folder of a model, or a name in build/models.
        suite (NAME[:KIND]): hellaswag, redditbias, honest, crows_pairs, bbq, soct, stereoset or
            seat; with a kind these items alone (crows_pairs:gender); repeatable.
        output (DIR): Where results go: a directory, or s3://…, gs://…, az://….
        adapter (DIR): LoRA adapter of the model.
        trained (DIR): The new adapter or model.
        last (DIR): With --trained, the adapter or model before it.
        margin: With --trained, by how much a figure may be worse.
        benchmark_data (DIR): Folder with files of benchmarks, before those shipped.
        items: Most items of a suite; always the same ones.
        batch: Items that are asked at once.

    Examples:
        evenflow lab benchmark --model smollm2 --suite hellaswag --output b
        evenflow lab benchmark --model m --adapter l --suite crows_pairs:gender -o b
        evenflow lab benchmark --model bert --suite stereoset --suite seat -o c
        evenflow lab benchmark --model m --trained a2 --last a1 --suite hellaswag
    """
    from evenflow.pipelines.lab.train.benchmark import benchmark as run
    from evenflow.pipelines.lab.train.errors import TrainInputError
    from evenflow.pipelines.terminal.benchmark_table import table

    if trained is not None:
        from evenflow.pipelines.lab.train.promote import promote

        place = trained.with_name(f"{trained.stem}.base")  # one for all that a trigger trains
        made = promote(model, trained, last, place, suite, margin, benchmark_data, items)
        return options.Shown(made, lambda made: print(made["reason"]))
    if output is None:
        raise options.wrong("--output", "say where results go")
    session.output, session.resumable = output, True
    if benchmark_data is not None and not benchmark_data.is_dir():
        raise TrainInputError(f"{benchmark_data}: there is no such folder of files of benchmarks")
    found = run(
        model,
        output,
        suite,
        adapter=None if adapter is None else str(adapter),
        data=benchmark_data,
        items=items,
        seed=seed,
        batch=batch,
        on_batch=lines(session, False, _line(), lambda done: done.done >= done.total),
    )
    return options.Shown(found, lambda found: table(found, suite))


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
        return f"{line}, {rate:.1f} items/s, {duration((done.total - done.done) / rate)} left"

    return text
