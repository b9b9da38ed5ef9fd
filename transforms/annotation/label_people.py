"""How often each label of a list names a person of its group, in the documents of a corpus.

The first stage judges every mention of a label. Of each label some mentions, drawn at random, are
read. The estimate is the mean of the first stage and the mean of what the reader corrects
(`representation.people`).
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.schemas.documents import Cell
from evenflow.transforms import wilson
from evenflow.transforms.annotation.people import (
    PeopleCounter,
    cut_cell,
    digest_of,
    mention_chances,
    uniform,
)
from evenflow.transforms.labels.finder import BETWEEN, LabelFinder, pieces
from evenflow.transforms.measures.representation.dr import DIGITS, demographic_representation
from evenflow.transforms.models.passages import CELL
from evenflow.transforms.models.people import UNIT, PeopleHead, to_bytes
from evenflow.wordlists.loader import WordList

PIECE = 1 << 20  # characters that are searched together
AROUND = 60  # characters on each side of a mention in an example
EXAMPLES = 3


@dataclass
class _Label:
    """What is known of a label: sums over its documents, and a sample of its mentions.

    n_d and f_d are a document's mentions, and those of people by the first stage.

    `sample`: The mentions of the least rank: negative rank, and a cell in which the mention is the
    only one that is asked about.
    """

    mentions: int = 0
    documents: int = 0
    chance: int = 0
    products: list[int] = field(default_factory=lambda: [0, 0, 0])
    sample: list[tuple[float, int, Cell]] = field(default_factory=list[tuple[float, int, Cell]])


def check(
    words: WordList, source: Iterable[tuple[Sequence[str], Sequence[str]]], most: int
) -> dict[str, Any]:
    """Estimate how often each label names a person of its group.

    Of an attribute without labelled documents, which the judge never saw, there is no estimate.
    """
    finder = LabelFinder([words])
    names = finder.labels(0)
    counter = PeopleCounter([words], [names], 0)
    labels = [_Label() for _ in names]
    documents = 0
    for ids, texts in source:
        for first, last in pieces(texts, PIECE):
            _add(labels, words, finder, counter, ids[first:last], texts[first:last], most)
        documents += len(texts)
    rows = [
        {
            "label": name,
            "group": words.groups[words.labels[name]],
            **_estimate(own, words.attribute),
        }
        for name, own in zip(names, labels, strict=True)
        if own.mentions
    ]
    learnt = PeopleHead.shipped().has_learnt(words.attribute)
    every, people, strong = (np.zeros(len(words.groups)) for _ in range(3))
    for row in rows:
        at = words.labels[row["label"]]
        every[at] += row["mentions"]
        people[at] += row["mentions"] * row["precision"]
        strong[at] += row["mentions"] * (row["precision"] >= 0.5)
    for row in rows:
        left = every.copy()
        left[words.labels[row["label"]]] -= row["mentions"]
        row["dr_without"] = _dr(left, words)
    if learnt:
        rows.sort(key=lambda row: (row["precision"], -row["mentions"], row["label"]))
    else:
        rows.sort(key=lambda row: (-row["mentions"], row["label"]))
        for row in rows:
            row |= dict.fromkeys(("precision", "low", "high"))
            row["examples"] = [{"text": each["text"], "people": None} for each in row["examples"]]
    found = {"words": every, "people": people, "without_weak": strong}
    found = {name: counts if learnt or counts is every else None for name, counts in found.items()}
    return {
        "documents": documents,
        "learnt": learnt,
        "dr": {
            name: None if counts is None else _dr(counts, words) for name, counts in found.items()
        },
        "labels": rows,
    }


def _add(
    labels: Sequence[_Label],
    words: WordList,
    finder: LabelFinder,
    counter: PeopleCounter,
    ids: Sequence[str],
    texts: Sequence[str],
    most: int,
) -> None:
    """Add documents that are searched together."""
    joined = BETWEEN.join(texts)
    sizes = np.fromiter(map(len, texts), np.int64, len(texts))
    begins = np.cumsum(sizes + len(BETWEEN)) - sizes - len(BETWEEN)
    (found,) = finder.find_all(joined)
    if not len(found.starts):
        return
    owner = np.searchsorted(begins, found.starts, "right") - 1
    lows = begins[owner]
    chance = counter.chances(0, to_bytes(joined), found, lows, lows + sizes[owner])
    keys, index = np.unique(owner * len(labels) + found.labels, return_inverse=True)
    own = np.stack([np.bincount(index), np.bincount(index, chance)], 1).astype(np.int64)
    for key, (n, f) in zip(keys.tolist(), own.tolist(), strict=True):
        label = labels[key % len(labels)]
        label.mentions += n
        label.documents += 1
        label.chance += f
        for at, product in enumerate((n * n, n * f, f * f)):
            label.products[at] += product
    digests = {at: digest_of(ids[at], texts[at]) for at in set(map(int, owner))}
    places = found.starts - lows
    ranks = uniform(words.attribute, owner, places, digests)
    for at in np.argsort(ranks).tolist():
        sample, rank = labels[int(found.labels[at])].sample, float(ranks[at])
        if len(sample) == most and -sample[0][0] <= rank:
            continue
        document = int(owner[at])
        cell = int(places[at]) // CELL
        part, inside, low = cut_cell(texts[document], cell, int(begins[document]), found, chance)
        made = Cell(rank, 1, "", [], [], *part, inside, (at - low, at - low + 1))
        push = heapq.heappushpop if len(sample) == most else heapq.heappush
        push(sample, (-rank, digests[document], made))


def _estimate(label: _Label, attribute: str) -> dict[str, Any]:
    """The precision of a label with its interval, and examples."""
    read: list[tuple[int, int, str]] = []
    for _, _, cell in sorted(label.sample, key=lambda each: -each[0]):
        ((at, chance),) = mention_chances(cell, attribute).items()
        start, end, _, before = cell.places[at]
        around = cell.text[max(start - AROUND, cell.low) : end + AROUND]
        read.append((chance, before, " ".join(around.split())))
    n, first = label.mentions, label.chance / label.mentions / UNIT
    squares, crossed, own = label.products
    between = own / UNIT**2 - 2 * first * crossed / UNIT + first**2 * squares
    variance = max(between, 0.0) / n**2
    change = np.array([chance - before for chance, before, _ in read], float) / UNIT
    if len(change):
        # Of n mentions some are read: what is not read is what the sample has to stand for
        spread = change.var(ddof=1) if len(change) > 1 else 0.25
        variance += float(spread) / len(change) * (1 - len(change) / n)
        first += float(change.mean())
    precision = min(max(first, 0.0), 1.0)
    low, high = _interval(precision, variance, label.documents)
    order = sorted(read)
    shown = [*order[:2], *order[-1:]] if len(order) > EXAMPLES else order
    return {
        "mentions": n,
        "documents": label.documents,
        "precision": round(precision, DIGITS),
        "low": round(low, DIGITS),
        "high": round(high, DIGITS),
        "read": len(read),
        "examples": [{"text": text, "people": chance / UNIT} for chance, _, text in shown],
    }


def _interval(share: float, variance: float, documents: int) -> tuple[float, float]:
    """Wilson's interval (1927) for the number of draws that would have this variance.

    It has no more draws than documents, so that a share of 0 or 1 is not taken for certain.
    """
    inner = share * (1 - share)
    draws = min(inner / variance, documents) if variance > 0 and inner > 0 else documents
    return wilson.interval(share, draws)


def _dr(counts: npt.NDArray[np.float64], words: WordList) -> float | None:
    """DR of counts by group, against the list's own target."""
    target = [words.target[group] for group in words.groups] if words.target else None
    dr = demographic_representation(np.maximum(counts, 0).tolist(), target)
    return None if dr is None else round(dr, DIGITS)
