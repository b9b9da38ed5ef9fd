"""`evenflow lab bias-score`: an attribute's direction, the reference of panes, and sentences."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import say
from evenflow.pipelines.terminal.lines import visible

if TYPE_CHECKING:
    from evenflow.schemas.config import Config


@command(("bias_score.attribute", "bias_score.vectors"), "bias_score")
def lab_bias_score(
    inputs: Sequence[str] = (),
    *,
    reference: Path | None = None,
    most: options.Count = 10,
    settings: options.Settings,
) -> options.Shown | None:
    """Show the sentences whose neutral words lean most to each group.

    A high score says what words go together with, not that a sentence is unfair: look at them
    before data are taken out or copied by it.

    Without an input it shows how well word vectors tell the groups apart: the share of the variance
    of the pairs' differences that the direction explains, and how well it agrees with the direction
    from all pairs of the word list.

    Args:
        reference (FILE): Write the scores' percentiles over the input, and what they were made
            with. A run with other vectors or words refuses them.
        most (K): Sentences for each group.

    Examples:
        evenflow lab bias-score
        evenflow lab bias-score 'corpus/*.jsonl.gz' --most 10
        evenflow lab bias-score clean/ --vectors glove.txt --reference r.json
    """
    config = configuration(settings)
    if reference is not None:
        return _reference(inputs, reference, config)
    from evenflow.transforms.measures.bias_score import signal

    own, words = signal.of(config), config.word_list(config.bias_score.attribute)
    if own.doubt is not None:
        options.note(f"do not trust which group a sentence leans to: {own.doubt}")
    if inputs:
        from evenflow.transforms.lab.bias_score.top import top

        return options.Shown(top(list(inputs), config, most), _draw_top)
    from evenflow.transforms.measures.bias_score.direction import described

    return options.Shown(
        described(own.direction, own.vectors, words, own.made_with["vectors"]), _draw
    )


def _reference(inputs: Sequence[str], output: Path, config: Config) -> None:
    """Write the percentiles of the scores of a corpus."""
    from evenflow.gates.ledger.files import canonical
    from evenflow.pipelines.corpus.measure import measure
    from evenflow.pipelines.terminal.progress import reporter
    from evenflow.schemas.documents import Figures
    from evenflow.transforms.io import files
    from evenflow.transforms.measures.bias_score import reference as references
    from evenflow.transforms.measures.bias_score import signal
    from evenflow.transforms.measures.bias_score.records import BiasSums

    own, total = signal.of(config), Figures()
    sizes = options.sizes_of(inputs, config)
    with reporter("text", sizes, not sys.stderr.isatty()) as progress:
        for figures in measure(list(inputs), config):
            total.add(figures)
            progress.on_measured(figures)
    sums = BiasSums.model_validate(total.measures["bias_score"]["sums"])
    if not sums.sentences:
        raise files.InputError("no sentence with a known word in the input")
    made = references.content(config.bias_score.attribute, own.made_with, sums)
    options.write(output, canonical(made))
    lines = [f"{made['sentences']:,} sentences of {made['documents']:,} documents"]
    lines[0] += f" ({sums.unknown:,} without a known word)"
    for percent, each in made["percentiles"].items():
        interval = "" if each["low"] is None else f" [{each['low']:.4f}, {each['high']:.4f}]"
        lines.append(f"percentile {percent}: {each['value']:.4f}{interval}")
    say(*lines)


def configuration(settings: options.Settings) -> Config:
    """The configuration of a command that scores and does not judge."""
    config = settings.configuration({"bias_score.mode": "measure"})
    scored = config.bias_score.model_copy(update={"reference": None})
    return config.model_copy(update={"bias_score": scored})


def _draw(shown: dict[str, Any]) -> None:
    """Print how well vectors tell groups apart."""
    pairs, explained = shown["pairs"], shown["explained"]
    what = f"{shown['pairs_used']} of {pairs} pairs" if pairs else "the labels of each group"
    print(f"{shown['attribute']}, from {what}: explains {explained:.0%} of the variance")
    if "agreement" in shown:
        print(
            f"from the word list's pairs ({shown['list_pairs_used']} of {shown['list_pairs']}):"
            f" explains {shown['list_explained']:.0%}; cosine of the two {shown['agreement']:.2f}"
        )


def _draw_top(shown: dict[str, list[dict[str, Any]]]) -> None:
    """Print the sentences of each group."""
    for group, rows in shown.items():
        print(f"{visible(group)}:" if rows else f"{visible(group)}: no sentence leans to it")
        for row in rows:
            print(visible(f"  {row['score']:.4f}  {row['sentence']}  ({row['id']})"))
