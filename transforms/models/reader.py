"""The reader: says of every mention in a document who is meant, and whether an exchange is right.

One pass of an encoder over a passage (`passages.cut`) gives each mention a vector, the mean of its
pieces. Small heads say from it whether the document stays right if the person changes as a whole,
who is meant, why it would be wrong, and whether two mentions are one person. The encoder runs in
ONNX Runtime in 8 bits, one passage at a time: with others in its batch a passage would get another
answer, and a document's result would depend on how a stream was cut. For a GPU there is a graph
for batches, in which each passage has its own scale of 8 bits, nothing looks at the padding, and
products of 8 bits are computed in floats, which is exact: it answers the same but for rounding.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models import files, passages
from evenflow.transforms.models.cuts import FORMAT, MANIFEST, VERSION
from evenflow.transforms.models.encoder import VOCABULARY, logistic, open_session, read_model
from evenflow.transforms.models.heads import REASONS as OF_WINDOWS
from evenflow.transforms.models.passages import Excerpt, Place

Floats = npt.NDArray[np.float64]

GRAPH, BATCHES, HEADS = "reader.onnx", "reader_batches.onnx", "reader.npz"
TOGETHER = 32 * passages.LONGEST  # word pieces of a batch: some GiB at most
RIGHT = 0.5  # an exchange with a lower probability has a reason why it is wrong
NEVER = -30.0  # the logit of what is not read
# How far the least logit of a person's mentions rises at most: one mention can refuse all of them
MOST_ABOVE = 1.0
HALF = "half"  # the reason of REASONS where another mention of the person would stay
REASONS = {**OF_WINDOWS, "stereo": "the sentence may be a stereotype"}
# Who is meant by a mention (tests/data/document_guideline.md)
WHO = ("named", "particular", "anybody", "group", "fiction", "kin", "no person")
# The numbers of those that are a person, or people, of the mention's group: not kin, whatever their
# age, and no thing
PEOPLE = range(WHO.index("kin"))


class Said(NamedTuple):
    """What the reader says of a mention.

    `who`: The probability of each of `WHO`, (7,). `reasons`: The score of each of `REASONS`, (R,).
    """

    right: float
    who: Floats
    reasons: Floats
    links: dict[int, float]


class Reader:
    """Judges exchanges with the document in sight.

    Args:
        folder: A folder with a manifest and the files that it names.
        device: What runs the encoder, of `encoder.PROVIDERS`.
        batches: Whether it reads passages together on a CPU too.

    Raises:
        ModelError: A file is missing, damaged or of another model; or the device cannot be used.
    """

    def __init__(self, folder: Path, device: str = "cpu", batches: bool = False):
        path = folder / MANIFEST
        self.about = files.manifest(path, FORMAT, VERSION)
        self.batches = batches or device != "cpu"
        with files.usable(path):
            graph = folder / (BATCHES if self.batches else GRAPH)
            self._session = open_session(graph, device=device)
            self._pieces = read_model(folder / VOCABULARY)
            with np.load(folder / HEADS, allow_pickle=False) as read:
                self._heads: dict[str, Floats] = {
                    name: read[name].astype(np.float64) for name in read.files
                }
            self._calibration: dict[str, list[float]] = self.about["calibration"]

    @classmethod
    def shipped(cls, device: str = "cpu") -> Reader:
        """Load the reader of this package, once for each process and device.

        Raises:
            ModelError: A file is missing, damaged or of another model.
        """
        return _shipped(device)

    def shows(self, attribute: str) -> bool:
        """Whether it learnt to judge an attribute's exchanges with the new words before it.

        Args:
            attribute: The attribute. Of gender the new word follows from the old one.

        Returns:
            Whether a place needs its new word.
        """
        return attribute not in self.about["unshown"]

    def read(self, text: str, places: Sequence[Place]) -> Reading:
        """Read a document.

        Args:
            text: The document; lone surrogates are allowed.
            places: Its mentions of one attribute, in order.

        Returns:
            The reading, which reads a passage when a mention in it is asked about.
        """
        return Reading(self, text, places)

    def judge(
        self, attribute: str, reading: Reading, own: Sequence[int], staying: Collection[int]
    ) -> tuple[float, str]:
        """Judge the exchange of mentions that change together.

        Args:
            attribute: The attribute. One without labelled data is judged by what the model learnt
                from the others.
            own: Indices of the mentions, at least one.
            staying: Indices of the mentions that would stay.

        Returns:
            The probability that the exchange is right and nobody is changed by half; where it is
            below `RIGHT`, the likeliest reason why it is wrong, otherwise an empty string.

        Raises:
            ModelError: A library failed.
        """
        worst, stay = reading.worst(own, staying)
        probability = self.calibrated(attribute, worst.right, stay)
        if probability >= RIGHT:
            return probability, ""
        half = self.calibrated(attribute, worst.right) >= RIGHT
        return probability, REASONS[HALF if half else list(REASONS)[int(worst.reasons.argmax())]]

    def calibrated(self, attribute: str, right: float, stay: float = NEVER) -> float:
        """Compute a probability."""
        slope, shift = self._calibration.get(attribute, self._calibration["all"])
        return float(logistic(slope * right + shift) * (1 - logistic(stay)) ** 0.5)

    def at_most(self, attribute: str, said: Said) -> float:
        """The greatest probability that a person can have one of whose mentions this is said of."""
        return self.calibrated(attribute, said.right + MOST_ABOVE)

    def read_ahead(self, mentions: Iterable[tuple[Reading, int]]) -> None:
        """Read the passages of mentions of readings, as far as they are not read.

        Raises:
            ModelError: A library failed.
        """
        cells = {
            (id(each), each.places[number].start // passages.WIDE): each
            for each, number in mentions
            if number not in each.known
        }
        with files.usable("the reader"):
            said = self._said(
                [
                    passages.of_cell(self._pieces, each.text, each.places, cell)
                    for (_, cell), each in cells.items()
                ]
            )
        for each, found in zip(cells.values(), said, strict=True):
            each.known |= found

    def of_excerpt(
        self, part: Excerpt, places: Sequence[Place], own: Iterable[int]
    ) -> dict[int, Said]:
        """Read the passage of a cell without the document.

        Args:
            part: What `passages.excerpt` cut.
            places: The mentions in it, in its characters.

        Returns:
            What is said of each mention of the cell.

        Raises:
            ModelError: A library failed.
        """
        with files.usable("the reader"):
            return self._said([passages.passage(self._pieces, *part[:3], places, own)])[0]

    def _said(self, found: Sequence[passages.Passage]) -> list[dict[int, Said]]:
        """What is said of each mention of passages."""
        unread = Said(NEVER, np.eye(len(WHO))[-1], np.zeros(len(REASONS)), {})
        out = [dict.fromkeys(each.own, unread) for each in found]
        # Passages of about one length are read together, so that little is padding
        sizes = {at: len(each.ids) for at, each in enumerate(found) if each.spans}
        left = sorted(sizes, key=sizes.__getitem__)
        while left:
            length = sizes[left[-1]]
            most = TOGETHER // length if self.batches else 1
            left, batch = left[:-most], left[-most:]
            given = np.zeros((2, len(batch), length), np.int64)  # with padding, which is piece 0
            for row, at in enumerate(batch):
                given[:, row, : sizes[at]] = found[at].ids, found[at].types
            states = self._session.run(None, {"ids": given[0], "types": given[1]})[0]
            for row, at in enumerate(batch):
                self._say(found[at].spans, states[row].astype(np.float64), out[at])
        return out

    def _say(
        self, spans: Mapping[int, tuple[int, int]], states: Floats, out: dict[int, Said]
    ) -> None:
        """Say of the mentions in `out` what the states of a passage's pieces, (n, D), mean."""
        vectors = np.array([states[first:last].mean(0) for first, last in spans.values()])
        right = self._linear("right", _gelu(self._linear("hidden", vectors)))[:, 0]
        who = np.exp(self._linear("who", vectors))
        reasons, near = self._linear("reason", vectors), self._near(vectors)
        numbers = list(spans)
        for at, number in enumerate(numbers):
            if number in out:
                links = dict(zip(numbers, near[at].tolist(), strict=True))
                del links[number]
                out[number] = Said(float(right[at]), who[at] / who[at].sum(), reasons[at], links)

    def _linear(self, name: str, x: Floats) -> Floats:
        """A head's linear map: weights (out, in + 1), the last column the constant."""
        weights = self._heads[name]
        return x @ weights[:, :-1].T + weights[:, -1]

    def _near(self, vectors: Floats) -> Floats:
        """The logits that two mentions are one person, (n, n)."""
        one, other = self._linear("link_one", vectors), self._linear("link_other", vectors)
        found = one @ other.T / np.sqrt(one.shape[1]) + self._heads["link"][0]
        return (found + found.T) / 2


@cache
def _shipped(device: str) -> Reader:
    return Reader(files.SHIPPED, device)


class Reading:
    """A document that is read passage by passage, as far as somebody asks.

    Args:
        places: Its mentions of one attribute, in order.

    Attributes:
        known: What was said so far, by mention. What an equal reading said may be put here.
    """

    def __init__(self, reader: Reader, text: str, places: Sequence[Place]):
        self._reader, self.text, self.places = reader, text, places
        self.known: dict[int, Said] = {}

    def said(self, number: int) -> Said:
        """What is said of a mention; of one that does not fit into its passage: never right.

        Raises:
            ModelError: A library failed.
        """
        if number not in self.known:
            self._reader.read_ahead([(self, number)])
        return self.known[number]

    def worst(self, own: Iterable[int], staying: Collection[int]) -> tuple[Said, float]:
        """Find what speaks most against an exchange.

        Args:
            own: Indices of the mentions that change, at least one.
            staying: Indices of the mentions that would stay.

        Returns:
            What is said of the mention that is least right, with the logit of all of them: the mean
            of the least and the mean one. And the greatest logit that a mention of the same person
            stays.
        """
        said = list(map(self.said, own))
        links = (link for each in said for link in each.links.items())
        worst = min(said, key=lambda each: each.right)
        above = (sum(each.right for each in said) / len(said) - worst.right) / 2
        return worst._replace(right=worst.right + min(above, MOST_ABOVE)), max(
            (value for other, value in links if other in staying), default=NEVER
        )


def _gelu(x: Floats) -> Floats:
    """X Φ(x) (Hendrycks and Gimpel, 2016)."""
    from scipy.special import erf  # a part of scipy that loads fast

    return x * 0.5 * (1 + erf(x / np.sqrt(2)))
