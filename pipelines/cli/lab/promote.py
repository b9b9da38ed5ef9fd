"""`evenflow lab promote`: whether a trained model takes the place of the last one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.terminal.endings import show


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
    show(made, as_json, _draw)


def _draw(made: dict[str, Any]) -> None:
    """Print a decision."""
    print(made["reason"])
