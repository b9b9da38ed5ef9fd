"""`evenflow lab bias-score`: an attribute's direction, and the reference of panes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.terminal.endings import printing, show

if TYPE_CHECKING:
    from evenflow.schemas.config import Config


@command(
    "evenflow lab bias-score direction",
    "evenflow lab bias-score direction --vectors glove.txt --json",
    "evenflow lab bias-score direction --vectors build/models/bert-base-uncased",
    options=("bias_score.vectors",),
)
def direction(
    *,
    selection: options.Selection,
    as_json: options.JsonOption = False,
) -> None:
    """Show how well word vectors tell the groups of an attribute apart.

    That is the share of the variance of the pairs' differences that the direction explains, and
    how well it agrees with the direction from all pairs of the word list.
    """
    from evenflow.transforms.measures.bias_score import signal
    from evenflow.transforms.measures.bias_score.direction import described

    config = configuration(selection)
    own, words = signal.of(config), config.word_list(config.bias_score.attribute)
    shown = described(own.direction, own.vectors, words, own.made_with["vectors"])
    show(shown, as_json, _draw)


@command(
    "evenflow lab bias-score reference clean/ --output reference.json",
    "evenflow lab bias-score reference clean/ --vectors glove.txt --output r.json",
    options=("fields.text", "bias_score.vectors"),
)
def reference(
    inputs: options.InputsArgument,
    *,
    output: Annotated[Path, option("FILE", "The file to write.")],
    selection: options.Selection,
    quiet: options.QuietOption = False,
) -> None:
    """Compute the percentiles of the bias score over a corpus, for bias_score.reference.

    The file says what the scores were made with. A run with other vectors or words refuses it.
    """
    from evenflow.gates.ledger.files import canonical
    from evenflow.pipelines.engine.files.measure import measure
    from evenflow.pipelines.terminal.progress import reporter
    from evenflow.schemas.documents import Figures
    from evenflow.transforms.io import files
    from evenflow.transforms.measures.bias_score import reference as references
    from evenflow.transforms.measures.bias_score import signal
    from evenflow.transforms.measures.bias_score.records import BiasSums
    from evenflow.transforms.storage.storage import at

    config = configuration(selection)
    own, total = signal.of(config), Figures()
    with reporter("text", options.sizes_of(inputs), quiet or not sys.stderr.isatty()) as progress:
        for figures in measure(inputs, config):
            total.add(figures)
            progress.on_measured(figures)
    sums = BiasSums.model_validate(total.measures["bias_score"]["sums"])
    if not sums.sentences:
        raise files.InputError("no sentence with a known word in the input")
    made = references.content(config.bias_score.attribute, own.made_with, sums)
    at(output.parent).write(output.name, canonical(made))
    with printing():
        print(
            f"{made['sentences']:,} sentences of {made['documents']:,} documents"
            f" ({sums.unknown:,} without a known word)"
        )
        if sums.behind:
            print(f"{sums.behind:,} words behind the encoder's context, without a score")
        for percent, each in made["percentiles"].items():
            interval = "" if each["low"] is None else f" [{each['low']:.4f}, {each['high']:.4f}]"
            print(f"percentile {percent}: {each['value']:.4f}{interval}")


def configuration(selection: options.Selection) -> Config:
    """The configuration of a command that scores and does not judge.

    Args:
        selection: The options; the words' groups are those of its only attribute, if it has one.

    Raises:
        ConfigError: The configuration is wrong.
    """
    asked = selection.attribute or []
    chosen = {"bias_score.attribute": asked[0]} if len(asked) == 1 else {}
    config = selection.configuration({"bias_score.mode": "measure", **chosen})
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
