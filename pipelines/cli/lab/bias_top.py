"""`evenflow lab bias-score top`: the sentences of a corpus that lean most to each group."""

from __future__ import annotations

from typing import Annotated, Any

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.bias_score import configuration
from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.terminal.endings import show


@command(
    "evenflow lab bias-score top 'corpus/*.jsonl.gz' --most 10",
    "evenflow lab bias-score top corpus/ -a religion --json",
    options=("fields.text", "bias_score.vectors"),
)
def top(
    inputs: options.InputsArgument,
    *,
    selection: options.Selection,
    most: Annotated[int, option("K", "Sentences for each group.", min=1)] = 10,
    as_json: options.JsonOption = False,
) -> None:
    """Show the sentences whose neutral words lean most to each group.

    A high score says what words go together with, not that a sentence is unfair: look at them
    before data are taken out or copied by it.
    """
    from evenflow.transforms.lab.bias_score.top import top as find

    show(find(inputs, configuration(selection), most), as_json, _draw)


def _draw(shown: dict[str, list[dict[str, Any]]]) -> None:
    """Print the sentences of each group."""
    from evenflow.pipelines.terminal.lines import visible

    for group, rows in shown.items():
        print(f"{visible(group)}:" if rows else f"{visible(group)}: no sentence leans to it")
        for row in rows:
            print(visible(f"  {row['score']:.4f}  {row['sentence']}  ({row['id']})"))
