"""A language model whose upper layers learn documents, and how it leans in other sentences.

A seed draws documents that an exchange changes, and sentences of other documents. A sentence is
read up to its first word that names a group. The log-probability of that word's form for the first
group, less that of its form for the second one, is how the model leans there. Two figures are
taken:

- `kept`: the part of the pretrained model's leanings that is kept, over the sentences, each less
  the mean of its two forms.
- `lean`: the mean leaning, signed; 0 is best.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from evenflow.pipelines.lab.effect.arms import HIGH, Documents, Floats
from evenflow.pipelines.lab.effect.design import Cell, EffectDesign, SeedSample, read_of, rounded
from evenflow.pipelines.lab.effect.layers import LowerStates, UpperLayers
from evenflow.pipelines.lab.effect.texts import Texts, word_list
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.transforms.lab.masking.sentences import SentenceFinder
from evenflow.transforms.models import loading

FIGURES = {
    "kept": "part of the pretrained model's leanings that is kept",
    "lean": "mean log-probability of the form for women less that of the form for men, in nats",
}
ARMS = (
    *("original", "exchanged", "exchanged_25", "weighed", "weights_drawn"),
    *("gc_cda", "base_cda", "one_sided", "aug90", "aug_drawn", "copied_drawn", "sub90"),
    "removed_drawn",
)
PILOT = range(10_000, 10_004)
VARIANTS = ("original", "exchanged", "half", "gc", "base")  # that the arms read
READ = 80  # first words of a document, of which are
CHANGED = 3  # at least, that an exchange changes: else all arms learn the same
WORDS = 4  # that stand, at least, before the word that names a group
BEFORE = 24  # tokens before it, at most, that are read
OWN = 1  # beside the seed, so that nothing else draws the same


@dataclass(frozen=True)
class SampleSizes:
    """How much a seed draws.

    Attributes:
        documents: Documents that are learnt.
        tokens: Tokens of a document that are read, from its beginning.
        sentences: Sentences that the leaning is measured in.
    """

    documents: int = 64
    tokens: int = 128
    sentences: int = 300


class NamedPlace(NamedTuple):
    """Where a sentence names a group.

    Attributes:
        document: The number of its document.
        tokens: The sentence's tokens before it.
        forms: The token of the first group, and that of the second.
    """

    document: int
    tokens: tuple[int, ...]
    forms: tuple[int, int]


def design(model: str, sizes: SampleSizes) -> EffectDesign:
    """The design with a causal language model.

    Args:
        model: Its folder, or its name.
        sizes: How much a seed draws.

    Returns:
        The design.

    Raises:
        LanguageModelError: The model cannot be used.
    """
    layers = UpperLayers(model)
    places: list[NamedPlace] = []

    def sample(texts: Texts, seed: int) -> SeedSample:
        if not places:
            places.extend(_places(texts, layers))
        return DrawnSample(texts, seed, layers, places, sizes)

    about = {
        "model": loading.folder_of(model).name,
        "digest": loading.digest(model),
        "sizes": asdict(sizes),
        **layers.about,
    }
    return EffectDesign(FIGURES, ARMS, halves=False, sample=sample, pilot=PILOT, about=about)


def _places(texts: Texts, layers: UpperLayers) -> list[NamedPlace]:
    """The places of a corpus where both forms are one token, and nothing before names a group."""
    words = word_list()
    finder, first = SentenceFinder(words), words.groups[0]
    found: list[NamedPlace] = []
    for number, text in enumerate(texts.variants["original"]):
        for each in finder.find(text):
            word = each.words[0]
            before = each.text[: word.start]
            named = any(name.start < word.start for name in each.names)
            if named or len(before.split()) < WORDS or not before.endswith(" "):
                continue
            form = each.text[word.start : word.end]
            for other in word.counterparts.values():
                ordered = (form, other) if word.group == first else (other, form)
                (one, *more), (two, *others) = (layers.tokens(" " + own) for own in ordered)
                if not more and not others and one != two:
                    own = layers.tokens(before.rstrip())
                    found.append(NamedPlace(number, tuple(own[-BEFORE:]), (one, two)))
    return found


def _changed(one: str, other: str) -> int:
    """How many of the first words of two texts differ."""
    pairs = zip(one.split()[:READ], other.split()[:READ], strict=False)
    return sum(own != exchanged for own, exchanged in pairs)


class DrawnSample:
    """What a seed draws: documents, and sentences of other documents.

    Args:
        texts: The corpus.
        seed: The seed.
        layers: The model.
        places: Where the corpus names groups.
        sizes: How much is drawn.

    Raises:
        TrainInputError: The corpus has not as much.
    """

    def __init__(
        self,
        texts: Texts,
        seed: int,
        layers: UpperLayers,
        places: Sequence[NamedPlace],
        sizes: SampleSizes,
    ):
        self.seed, self._texts, self._layers, self._sizes = seed, texts, layers, sizes
        random = np.random.default_rng([seed, OWN])
        both = zip(texts.variants["original"], texts.variants["exchanged"], strict=True)
        changed = [number for number, own in enumerate(both) if _changed(*own) >= CHANGED]
        self._own = np.sort(random.permutation(changed)[: sizes.documents])
        drawn = set(self._own.tolist())
        others = [place for place in places if place.document not in drawn]
        if len(drawn) < sizes.documents or len(others) < sizes.sentences:
            raise TrainInputError(
                f"too little text: {len(drawn)} documents whose beginning an exchange changes, and"
                f" {len(others)} sentences of others; {sizes.documents} and {sizes.sentences} were"
                " expected"
            )
        chosen = random.permutation(len(others))[: sizes.sentences]
        self._forms = [others[at].forms for at in chosen]
        self._before = layers.below([others[at].tokens for at in chosen])
        self._pairs = np.unique(self._forms, axis=0, return_inverse=True)[1]
        self._order = random.random((2, len(self._own)))  # of first and second copies
        scores = texts.scores[self._own]
        self._documents = Documents(
            texts.weights[self._own],
            (scores > np.quantile(scores, HIGH)).astype(float),
            np.zeros(len(self._own)),
        )
        self._texts_below: dict[str, LowerStates] = {}
        layers.forget()
        self._base = layers.differences(self._before, self._forms)

    @cached_property
    def _tokens(self) -> dict[str, list[int]]:
        """The tokens of all texts that the arms read."""
        texts = {self._texts.variants[name][at] for name in VARIANTS for at in self._own}
        return {text: self._layers.tokens(text)[: self._sizes.tokens] for text in sorted(texts)}

    @cached_property
    def _known(self) -> list[int]:
        """The different tokens of these texts, sorted: what the loss is over."""
        return sorted({token for tokens in self._tokens.values() for token in tokens})

    def figures(self, cell: Cell) -> dict[str, float]:
        """Let the model learn an arm, and measure how it leans."""
        reads, _ = read_of(cell, self._documents)
        self._layers.learn(*self._read(reads), self._known)
        found = self._layers.differences(self._before, self._forms)
        kept = np.cov(self._apart(found), self._apart(self._base))[0, 1]
        return rounded({"kept": kept, "lean": found.mean()})

    def _apart(self, leanings: Floats) -> Floats:
        """Leanings less the mean of their two forms."""
        means = np.bincount(self._pairs, leanings) / np.bincount(self._pairs)
        return leanings - means[self._pairs]

    def _read(self, reads: Mapping[str, Floats]) -> tuple[list[LowerStates], list[float]]:
        """The texts that are learnt in their order, with their weights; all arms have one order."""
        found: list[tuple[float, str, float]] = []
        for at, number in enumerate(self._own):
            copies = [
                (self._texts.variants[name][number], count[at] / whole)
                for name, count in reads.items()
                for whole in [2 if count[at] >= 2 else 1]
                for _ in range(whole if count[at] else 0)
            ]
            found += [
                (self._order[copy, at], text, float(weight))
                for copy, (text, weight) in enumerate(copies)
            ]
        found.sort()
        below = self._below([text for _, text, _ in found])
        return below, [weight for *_, weight in found]

    def _below(self, texts: Sequence[str]) -> list[LowerStates]:
        """What the lower layers make of texts; each is computed once."""
        made = self._texts_below
        new = sorted(set(texts) - made.keys())
        below = self._layers.below([self._tokens[text] for text in new])
        made |= dict(zip(new, below, strict=True))
        return [made[text] for text in texts]
