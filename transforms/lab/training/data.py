"""The training data: labelled exchanges, and sentences labelled for stereotypes."""

from __future__ import annotations

import gzip
import hashlib
import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenflow.transforms.models.heads import REASONS, STANCE, YES_NO, HeadLayout
from evenflow.transforms.models.pieces import Pieces, Tokenizer

EXCHANGES, SENTENCES = "exchanges.jsonl.gz", "stereotype_texts.jsonl.gz"
WRONG = "w"  # of the labels r, a, w: right, acceptable, wrong
# Kinds of text of one origin, which are held out together.
FAMILIES = {
    "encyclopaedia-tokenised": "encyclopaedia",
    "wiki": "encyclopaedia",
    "assistant": "instruction",
    "gsm8k": "school-sums",
    "inaugural": "speeches",
    "state_union": "speeches",
    "news": "abc",
}
OLDER = "-older"  # ending of a source that was labelled for an earlier version
# Families that are held out together. This needs fewer trainings than one for each family, and no
# model has seen the kind of text that it is tested on.
FOLDS = (
    ("reddit", "gum", "school-sums", "web"),
    ("movie_reviews", "ewt", "professions", "fiction"),
    ("encyclopaedia", "abc", "instruction", "speeches", "hellaswag"),
)
# Invented sentences say less about real ones. With their full weight a model learns how they were
# written.
WRITTEN = frozenset({"written", "pairs", "exam", "not_stereotypes"})
WRITTEN_WEIGHT = 0.25
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Data:
    """Rows to learn from and to report on; no document is in both.

    Attributes:
        exchanges: Labelled exchanges.
        sentences: Labelled sentences.
    """

    exchanges: list[Row]
    sentences: list[Row]

    def part(self, split: str) -> Data:
        """Select the rows of a split: train or report."""
        return self._where(lambda row: row["split"] == split)

    def of(self, families: Iterable[str]) -> Data:
        """Select the rows of some families of sources."""
        own = set(families)
        return self._where(lambda row: family(row["source"]) in own)

    def without(self, families: Iterable[str]) -> Data:
        """Select the rows of all other families of sources."""
        out = set(families)
        return self._where(lambda row: family(row["source"]) not in out)

    def halved(self, away: Callable[[str], bool]) -> tuple[Data, Data]:
        """Divide the rows by their documents.

        Args:
            away: Whether a document is held out.

        Returns:
            The rows of the other documents, and those of the documents held out.
        """
        return self._where(lambda row: not away(row["doc"])), self._where(
            lambda row: away(row["doc"])
        )

    def _where(self, chosen: Callable[[Row], bool]) -> Data:
        """The rows that a predicate selects."""
        return Data(
            *([row for row in rows if chosen(row)] for rows in (self.exchanges, self.sentences))
        )


@dataclass(frozen=True)
class Target:
    """What a head should say.

    Attributes:
        head: A name of `heads.YES_NO`, or of a choice of the layout.
        value: A probability, or the number of a class.
        weight: The weight of its loss.
    """

    head: str
    value: float
    weight: float = 1.0


@dataclass(frozen=True)
class Example:
    """An example to learn from.

    Attributes:
        texts: The windows of an exchange; one text for other heads.
        targets: What the heads should say about it.
        reason: The number of the reason why an exchange is wrong; -1: not known.
    """

    texts: tuple[Pieces, ...]
    targets: tuple[Target, ...]
    reason: int = -1


def read(folder: Path, more: Path | None = None) -> Data:
    """Read the data of a folder.

    Args:
        folder: The folder.
        more: Another file of sentences; None: no more.

    Returns:
        The data.

    Raises:
        FileNotFoundError: A file is missing.
        ValueError: A line is no row; the message says which.
    """
    sentences = _rows(folder / SENTENCES, "text")
    return Data(
        _rows(folder / EXCHANGES, "windows"), sentences + (_rows(more, "text") if more else [])
    )


def _rows(path: Path, needed: str) -> list[Row]:
    """The rows of a file."""
    out: list[Row] = []
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            try:
                row = json.loads(line)
                missing = {needed, "source", "doc", "label", "split"} - row.keys()
            except (ValueError, AttributeError) as error:
                raise ValueError(f"{path}, line {number}: {error}") from error
            if missing:
                raise ValueError(f"{path}, line {number}: {', '.join(sorted(missing))} missing")
            out.append(row)
    return out


def family(source: str) -> str:
    """The family of a source: all sources of one origin."""
    name = source.removesuffix(OLDER)
    for prefix, of in (("gum-", "gum"), ("ewt-", "ewt"), ("novel-", "fiction")):
        if name.startswith(prefix):
            return of
    return FAMILIES.get(name, name)


def is_calibration(document: str) -> bool:
    """Whether a quick training holds a document out for the calibration: one in eight, by hash."""
    return _hashed(f"cal{document}") % 8 == 0


def _hashed(name: str) -> int:
    """A number of 64 bits that depends on a name."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")


def layout_of(sentences: Sequence[Row]) -> HeadLayout:
    """Find the heads that rows teach.

    Args:
        sentences: Labelled sentences.

    Returns:
        The classes of stance and of each indicator, in alphabetical order.
    """
    classes: dict[str, set[str]] = {STANCE: set()}
    for row in sentences:
        for name, value in _choices(row).items():
            classes.setdefault(name, set()).add(value)
    return HeadLayout({name: tuple(sorted(found)) for name, found in sorted(classes.items())})


def _choices(row: Row) -> Mapping[str, str]:
    """The class of a row by the name of the choice."""
    if row["task"] == STANCE:
        return {STANCE: row["label"]}
    return row["label"] if row["task"] == "indicators" else {}


def examples(data: Data, layout: HeadLayout, tokenizer: Tokenizer) -> list[Example]:
    """Make training examples of rows. A sentence with several labels is one example.

    Args:
        data: The rows.
        layout: The heads.
        tokenizer: Cuts texts into word pieces.

    Returns:
        The examples.
    """
    names = list(REASONS)
    out = [
        Example(
            tuple([tokenizer.pieces(window) for window in row["windows"]]),
            (Target("exchange", float(row["label"] != WRONG)),),
            names.index(row["reason"]) if row["reason"] in names else -1,
        )
        for row in data.exchanges
    ]
    targets: dict[str, list[Target]] = {}
    for row in data.sentences:
        own = targets.setdefault(row["text"], [])
        for name, value in _choices(row).items():
            own.append(Target(name, layout.choices[name].index(value)))
        if row["task"] in YES_NO:
            weight = WRITTEN_WEIGHT if row["source"] in WRITTEN else 1.0
            own.append(Target(row["task"], float(row["label"]), weight))
    return out + [Example((tokenizer.pieces(text),), tuple(own)) for text, own in targets.items()]
