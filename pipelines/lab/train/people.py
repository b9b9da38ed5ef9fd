"""Fits the head that says whether a mention names a person of its group.

    python -m evenflow.pipelines.lab.train.heads people OUT

It learns from the part `train` of the labelled documents, by logistic regression on the vectors of
the words beside a mention, its label and its vector, a head an attribute and one of all. How the
reader's answer and a head's are joined is fitted to documents of which neither learnt. With the
same data and packages it writes the same weights. It takes some minutes on a core.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.lab.training import labelled
from evenflow.transforms.lab.training.head import write
from evenflow.transforms.lab.training.labelled import Labelled
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.models import people, static
from evenflow.transforms.models.passages import CELL, Place, excerpt
from evenflow.transforms.models.reader import NEVER, PEOPLE, Reader, Said
from evenflow.wordlists.loader import load

# Chosen on sources left out: how strongly vectors, labels and signs may speak, against a penalty of
# one on squared weights
VECTORS, LABELS, SIGNS = 0.05, 2.0, 0.7
OFTEN = 5  # mentions from which a label has a number of its own
# A label whose mentions, at least so many, nearly all name people is not looked at beside
MANY, SURE = 100, 0.97
FEW = 10, 5  # mentions, and of people, from which a group in a kind of text tells of errors
DATA = Path("tests/data/documents.jsonl.gz")

Floats = npt.NDArray[np.float64]


class LabelledMentions(NamedTuple):
    """The n labelled mentions of one attribute.

    `people`: Whether each names a person of its group, (n,).
    """

    places: people.Places
    labels: list[str]
    people: npt.NDArray[np.bool_]


def mentions(
    documents: Sequence[Labelled], attribute: str, vocabulary: people.Vocabulary
) -> LabelledMentions:
    """Collect the mentions of an attribute."""
    words, signs, labels, true = [], [], list[str](), list[bool]()
    for each, own, names in _listed(documents, attribute):
        starts = np.array([each.places[at].start for at in own], np.int64)
        ends = np.array([each.places[at].end for at in own], np.int64)
        low, high = np.zeros_like(starts), np.full_like(starts, len(each.text))
        found = vocabulary.places(people.to_bytes(each.text), starts, ends, low, high)
        words.append(found[0])
        signs.append(found[1])
        owners = each.owners
        labels += [names[start] for start in starts.tolist()]
        true += [each.meant[owners[at]].who in PEOPLE for at in own]
    return LabelledMentions((np.concatenate(words), np.concatenate(signs)), labels, np.array(true))


def _listed(
    documents: Sequence[Labelled], attribute: str
) -> Iterator[tuple[Labelled, list[int], dict[int, str]]]:
    """The documents of an attribute, the places that today's list finds, and labels by start."""
    finder = LabelFinder([load(attribute)])
    for each in documents:
        if each.attribute == attribute:
            names = {mention.start: mention.label for mention in finder.find(each.text)}
            yield each, [at for at, place in enumerate(each.places) if place.start in names], names


def joined(
    documents: Sequence[Labelled], names: Sequence[str], head: people.PeopleHead
) -> dict[str, Any]:
    """Fit how a reader's logit and the first stage's are joined, and measure what both err by."""
    from sklearn.linear_model import LogisticRegression

    rows: dict[str, list[tuple[float, float, bool]]] = {name: [] for name in names}
    cells: dict[str, list[tuple[str, str]]] = {name: [] for name in names}
    for name in names:
        own = mentions(documents, name, head.vocabulary)
        chances = head.chances(name, own.places, head.labels(name, own.labels))
        known = head.sure(name, own.labels)
        first = iter(np.where(known >= 0, known, chances) / people.UNIT)
        for each, places, _ in _listed(documents, name):
            read_here = said_by_cell(each.text, [each.places[at] for at in places])
            owners = each.owners
            for number, at in enumerate(places):
                said, chance = read_here[number], float(next(first))
                if said.right != NEVER:
                    read = people.kept_logit(float(said.who[: len(PEOPLE)].sum()))
                    true = each.meant[owners[at]].who in PEOPLE
                    rows[name].append((read, people.kept_logit(chance), true))
                    cells[name].append((each.groups[at], each.source.split("-")[0]))
    weights: dict[str, list[float]] = {}
    doubts: dict[str, float] = {}
    for name in (*names, people.ANY):
        own = [rows[each] for each in (names if name == people.ANY else [name])]
        every = np.concatenate(own)
        alike = np.concatenate([np.full(len(each), len(every) / len(each)) for each in own])
        model: Any = LogisticRegression(C=10.0)
        model.fit(every[:, :2], every[:, 2] > 0, alike / len(own))
        weights[name] = [*model.coef_[0].round(4).tolist(), round(float(model.intercept_[0]), 4)]
        if name != people.ANY:
            doubts[name] = doubt(cells[name], model.predict_proba(every[:, :2])[:, 1], every[:, 2])
    return {"reader": weights, "doubt": doubts}


def said_by_cell(text: str, places: Sequence[Place]) -> dict[int, Said]:
    """Read a document as `people.judged` does, by the passages of its cells."""
    found: dict[int, Said] = {}
    for cell in {place.start // CELL for place in places}:
        part = excerpt(text, cell)
        moved = [Place(at.start - part.skipped, at.end - part.skipped) for at in places]
        own = [number for number, at in enumerate(places) if at.start // CELL == cell]
        found |= Reader.shipped().of_excerpt(part, moved, own)
    return found


def doubt(cells: Sequence[tuple[str, str]], chances: Floats, true: Floats) -> float:
    """The root mean square of estimated over true people, less one, by group and kind of text.

    `chances`: Their chances, (n,). `true`: Whether each names people, (n,).
    """
    summed, whole = 0.0, 0.0
    for cell in dict.fromkeys(cells):
        own = np.array([each == cell for each in cells])
        if own.sum() >= FEW[0] and true[own].sum() >= FEW[1]:
            summed += true[own].sum() * (chances[own].sum() / true[own].sum() - 1) ** 2
            whole += true[own].sum()
    return round(float(np.sqrt(summed / whole)), 4)


def sure(own: LabelledMentions) -> dict[str, int]:
    """Find the labels that nearly always name people: the share of each, in thousandths."""
    every = Counter(own.labels)
    people_of = Counter(label for label, yes in zip(own.labels, own.people, strict=True) if yes)
    return {
        label: round(people.UNIT * people_of[label] / count)
        for label, count in sorted(every.items())
        if count >= MANY and people_of[label] >= SURE * count
    }


class Fitted(NamedTuple):
    """A head: its weights as `people.PeopleHead` reads them, and the numbers of labels."""

    weights: Floats
    labels: dict[str, float]


def fit(
    own: LabelledMentions, words: Sequence[str], vectors: Floats, with_labels: bool = True
) -> Fitted:
    """Fit a head.

    `vectors`: Their vectors, (V, D).
    """
    from sklearn.linear_model import LogisticRegression

    at = {word: number for number, word in enumerate(words)}
    scale = VECTORS / vectors.std()
    padded = np.concatenate([vectors, np.zeros((1, vectors.shape[1]))]) * scale
    counted = Counter(own.labels) if with_labels else Counter[str]()
    often = sorted(label for label, count in counted.items() if count >= OFTEN)
    index = {label: number for number, label in enumerate(often)}
    one_hot = np.zeros((len(own.labels), len(often)))
    for row, label in enumerate(own.labels):
        if label in index:
            one_hot[row, index[label]] = LABELS
    vector = {each: people.label_vector(each, at, vectors) * scale for each in set(own.labels)}
    design = np.concatenate(
        [
            padded[own.places[0]].reshape(len(own.labels), -1),
            np.array([vector[label] for label in own.labels]),
            own.places[1] * SIGNS,
            one_hot,
        ],
        axis=1,
    )
    model: Any = LogisticRegression(C=1.0, max_iter=300)
    model.fit(design, own.people)
    found, size = model.coef_[0], (people.SIDES + 1) * vectors.shape[1]
    signs = size + len(people.SIGNS)
    weights = [found[:size] * scale, found[size:signs] * SIGNS, model.intercept_]
    labels = dict(zip(often, (found[signs:] * LABELS).round(4).tolist(), strict=True))
    return Fitted(np.concatenate(weights), labels)


def train(out: Path, documents: Path = DATA) -> None:
    """Fit all heads and write them."""
    rows = labelled.part(labelled.read(documents), labelled.TRAIN)
    names = list(dict.fromkeys(each.attribute for each in rows))
    # The reader did not learn from one in eight, so a first stage without them is joined to it
    apart = {each.document for each in rows if labelled.is_calibration(each.document)}
    learnt = [each for each in rows if each.document not in apart]
    away = [each for each in rows if each.document in apart]
    with TemporaryDirectory() as folder:
        fit_all(learnt, names, Path(folder), {"reader": {}, "doubt": {}})
        both = joined(away, names, people.PeopleHead(Path(folder)))
    fit_all(rows, names, out, both)


def fit_all(
    documents: Sequence[Labelled], names: Sequence[str], out: Path, both: dict[str, Any]
) -> None:
    """Fit the heads of attributes and of all together, and write them."""
    words, vectors, _ = static.word_vectors()
    vocabulary = people.Vocabulary(words)
    every = [mentions(documents, name, vocabulary) for name in names]
    heads = {
        name: fit(own, words, vectors.astype(np.float64))
        for name, own in zip(names, every, strict=True)
    }
    beside, signs = map(np.concatenate, zip(*(own.places for own in every), strict=True))
    labels_of = [label for own in every for label in own.labels]
    together = LabelledMentions(
        (beside, signs), labels_of, np.concatenate([own.people for own in every])
    )
    heads[people.ANY] = fit(together, words, vectors.astype(np.float64), with_labels=False)
    about = {
        "vectors": people.digest_of(words, vectors),
        "sure": {name: sure(own) for name, own in zip(names, every, strict=True)},
        "mentions": {name: len(own.labels) for name, own in zip(names, every, strict=True)},
    } | both
    weights = {name: each.weights.astype(np.float32) for name, each in heads.items()}
    labels = {name: each.labels for name, each in heads.items()}
    own, names_of = about | {"labels": labels}, [people.TENSORS]
    write(out / people.MANIFEST, people.FORMAT, people.VERSION, names_of, own, weights)
