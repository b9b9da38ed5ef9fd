"""The model card: what the models are, their training data, figures by source, and limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from evenflow.transforms.lab.training import data, evaluate
from evenflow.transforms.lab.training.data import Data, Row
from evenflow.transforms.lab.training.evaluate import Floats

NAME = "README.md"
# Probabilities from which an exchange is called right: `encoder.RIGHT`, and the default strictness
LEVELS = (0.5, 0.8)
LIMITS = """\
## Limits

- English. Language models gave the labels after `docs/exchange_guideline.md`, one each; no person
  has checked them.
- A judge sees some 400 characters, so it does not know who was named pages before.
- The first stage knows no order of words beyond four on each side of a change.
- An attribute without labelled rows is judged by what the models learnt from the others; its
  probabilities are less sure.
- The encoder's answers are the same on every machine with the same instructions for 8-bit products;
  elsewhere they may differ in the last places.
"""


class CardJudge(Protocol):
    """Gives exchanges a probability, and maybe a reason."""

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> Sequence[Any]:
        """Judge exchanges.

        Args:
            attribute: The attribute whose groups are exchanged.
            each: The marked windows of each exchange.

        Returns:
            Of each exchange a probability, or a pair of a probability and a reason.
        """
        ...


@dataclass(frozen=True)
class ScoredRows:
    """Rows, the truth about them, and the answers of judges.

    Attributes:
        rows: n exchanges or sentences.
        true: Whether each is right, or a stereotype, (n,).
        chances: The probabilities (n,) by judge.
    """

    rows: Sequence[Row]
    true: evaluate.Truth
    chances: dict[str, Floats]


def judged(judge: CardJudge, rows: Sequence[Row]) -> Floats:
    """Ask a judge about exchanges.

    Args:
        judge: The judge.
        rows: n exchanges of any attributes.

    Returns:
        Its probabilities, (n,).
    """
    out = np.zeros(len(rows))
    for attribute in sorted({row["attribute"] for row in rows}):
        at = [number for number, row in enumerate(rows) if row["attribute"] == attribute]
        found = judge.exchanges(attribute, [rows[number]["windows"] for number in at])
        out[at] = [each[0] if isinstance(each, tuple) else each for each in found]
    return out


def table(scored: ScoredRows) -> str:
    """Make the table of figures by family of sources and by attribute.

    Args:
        scored: Rows with the answers of judges.

    Returns:
        A table in Markdown, one line for each part and judge.
    """
    heads = [f"precision from {level} | recall from {level}" for level in LEVELS]
    lines = [
        f"| rows | judge | n | right | area [95 %] | {' | '.join(heads)} |",
        "|---" * (5 + 2 * len(LEVELS)) + "|",
    ]
    parts = [("all", lambda row: True)]
    parts += [
        (name, lambda row, name=name: data.family(row["source"]) == name)
        for name in _families(scored.rows)
    ]
    parts += [
        (name, lambda row, name=name: row.get("attribute") == name)
        for name in ("gender", "age", "religion")
    ]
    for name, chosen in parts:
        at = np.array([chosen(row) for row in scored.rows], bool)
        if not at.any():
            continue
        documents = [row["doc"] for row in scored.rows if chosen(row)]
        for judge, chances in scored.chances.items():
            one = evaluate.figures(chances[at], scored.true[at], documents)
            shares = [
                share
                for level in LEVELS
                for share in _shares(chances[at] >= level, scored.true[at])
            ]
            lines.append(
                f"| {name} | {judge} | {one.n} | {one.right:.2f} | {one.area:.3f} [{one.low:.3f},"
                f" {one.high:.3f}] | {' | '.join(shares)} |"
            )
    return "\n".join(lines)


def _shares(called: evaluate.Truth, true: evaluate.Truth) -> tuple[str, str]:
    """Precision and recall of the rows that are called right."""
    hits = int((called & true).sum())
    return evaluate.share(hits, int(called.sum())), evaluate.share(hits, int(true.sum()))


def bins(scored: ScoredRows) -> str:
    """Make the table of each judge's reliability by bin.

    Args:
        scored: Rows with the answers of judges.

    Returns:
        A table in Markdown: of each bin the mean probability, the true share and the number of
            rows.
    """
    lines = ["| judge | said: so [95 %] (of n), by tenths |", "|---|---|"]
    for judge, chances in scored.chances.items():
        each = (
            f"{stated:.2f}: {evaluate.share(round(so * n), n)}"
            for stated, so, n in evaluate.reliability(chances, scored.true)
        )
        lines.append(f"| {judge} | {', '.join(each)} |")
    return "\n".join(lines)


def card(
    own: Data, tables: Sequence[tuple[str, ScoredRows]], size: dict[str, int], seconds: float
) -> str:
    """Write the card in Markdown.

    Args:
        own: The training data.
        tables: Title and figures of each table.
        size: Bytes of each file.
        seconds: Duration of the training.

    Returns:
        The card.
    """
    sizes = ", ".join(f"{name} {bytes_:,}" for name, bytes_ in sorted(size.items()))
    parts = [
        "# The models that judge exchanges and stereotypes",
        (
            "`encoder.*`: the first layers of all-MiniLM-L6-v2 (Apache-2.0), tuned, 8 bits."
            " `first_stage.*`: one vector a word, made by that encoder, and linear heads. Written"
            f" by `python -m evenflow.transforms.lab.training` in {seconds / 60:.0f} minutes;"
            f" {sum(size.values()) / 1e6:.1f} MB: {sizes} bytes."
        ),
        "## Data",
        _counts("exchanges", own.exchanges),
        _counts("sentences", own.sentences),
        (
            "Documents whose name hashes to one in five were kept for the report. Sources, licences"
            " and labels: `tests/data/exchanges_README.md`, `tests/data/stereotype_sets_README.md`."
        ),
    ]
    for title, scored in tables:
        parts += [f"## {title}", table(scored), bins(scored)]
    return "\n\n".join([*parts, LIMITS])


def _counts(name: str, rows: Sequence[Row]) -> str:
    """The number of rows, also by source."""
    counts = Counter(row["source"] for row in rows)
    return (
        f"{len(rows):,} {name}:"
        f" {', '.join(f'{source} {count}' for source, count in sorted(counts.items()))}."
    )


def _families(rows: Sequence[Row]) -> list[str]:
    """The families of sources of some rows, in alphabetical order."""
    return sorted({data.family(row["source"]) for row in rows})
