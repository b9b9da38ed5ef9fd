"""Proposes words for groups from a few seed words, without a language model.

A word is near a group if its static vector is near the mean of the group's seeds and further from
those of the other groups. Analogies of seeds give counterparts: what is to one group as a seed is
to its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.transforms.measures.bias_score.vectors import Vectors
from evenflow.transforms.text import english
from evenflow.wordlists import spelling
from evenflow.wordlists.parsing import label_problem

SEED, NEIGHBOUR, ANALOGY = "seed", "neighbour in static vectors", "analogy"

AT_ONCE = 64  # words whose cosines with all others are in memory, 8 bytes each

Floats = npt.NDArray[np.float64]


class ProposalError(EvenflowError, ValueError):
    """Seeds that cannot be used; the message says why."""

    status = USAGE


@dataclass(frozen=True)
class Proposal:
    """A word that is proposed for a group."""

    word: str
    group: str
    source: str
    margin: float | None = None


def check_seeds(seeds: Mapping[str, Sequence[str]]) -> None:
    """Refuse seeds that say nothing about a group, or that stand in two groups."""
    if len(seeds) < 2:
        raise ProposalError("two groups or more were expected")
    of: dict[str, str] = {}
    for group, words in seeds.items():
        if not words:
            raise ProposalError(f"group {group} has no seed word")
        for word in words:
            if problem := label_problem(word):
                raise ProposalError(f"seed {word!r} of {group}: {problem}")
            other = of.setdefault(spelling.fold(word), group)
            if other != group:
                raise ProposalError(f"seed {word!r} stands in two groups, {other} and {group}")


class WordSpace:
    """The words of static vectors that can be labels, with unit vectors."""

    def __init__(self, vectors: Vectors):
        rows = np.concatenate(list(vectors.blocks()))
        self.places: dict[str, int] = {}
        for word, number in vectors.words.items():
            folded = spelling.fold(word)
            # The finder finds “woman's” as “woman”
            usable = len(folded) > 1 and "'" not in folded and not label_problem(folded)
            if usable and folded not in english.CLOSED:
                self.places.setdefault(folded, number)
        self.words = list(self.places)
        self.rows: Floats = rows[list(self.places.values())]
        self.places = {word: number for number, word in enumerate(self.words)}

    def centre(self, group: str, words: Sequence[str]) -> Floats:
        """The unit mean (D,) of a group's words; raises ProposalError where none has a vector."""
        known = [self.places[each] for each in map(spelling.fold, words) if each in self.places]
        if not known:
            raise ProposalError(f"no seed word of {group} has a vector: {', '.join(words)}")
        mean = self.rows[known].mean(axis=0)
        return mean / max(float(np.linalg.norm(mean)), 1e-12)


def margins(space: WordSpace, seeds: Mapping[str, Sequence[str]]) -> tuple[Floats, Floats]:
    """How near all words are to the groups.

    Returns cosines with the groups' centres, (V, M), and by how much each exceeds the best other
    one.
    """
    centres = np.stack([space.centre(group, words) for group, words in seeds.items()])
    near = space.rows @ centres.T
    best = np.sort(near, axis=1)
    other = np.where(near == best[:, -1:], best[:, -2:-1], best[:, -1:])
    return near, near - other


def neighbours(
    space: WordSpace, seeds: Mapping[str, Sequence[str]], most: int
) -> dict[str, list[Proposal]]:
    """Propose the words that are near a group and far from the others."""
    near, margin = margins(space, seeds)
    given = {spelling.fold(word) for words in seeds.values() for word in words}
    out: dict[str, list[Proposal]] = {}
    for number, group in enumerate(seeds):
        value = np.where(margin[:, number] > 0, near[:, number] + margin[:, number], -np.inf)
        order = np.argsort(-value, kind="stable")
        chosen = [
            Proposal(space.words[place], group, NEIGHBOUR, round(float(margin[place, number]), 4))
            for place in order[: most + len(given)].tolist()
            if np.isfinite(value[place]) and space.words[place] not in given
        ]
        out[group] = chosen[:most]
    return out


def counterparts(
    space: WordSpace, seeds: Mapping[str, Sequence[str]], words: Mapping[str, Sequence[str]]
) -> dict[str, dict[str, str]]:
    """Find what is to the other groups as words are to their own, by vector arithmetic."""
    centres = {group: space.centre(group, own) for group, own in seeds.items()}
    near = {group: space.rows @ centre for group, centre in centres.items()}
    out: dict[str, dict[str, str]] = {}
    for group, own in words.items():
        known = [each for each in own if spelling.fold(each) in space.places]
        for first in range(0, len(known), AT_ONCE):
            part = known[first : first + AT_ONCE]
            places = [space.places[spelling.fold(each)] for each in part]
            alike = space.rows @ space.rows[places].T
            for other in (each for each in seeds if each != group):
                shift = near[other] - near[group]
                value = np.where((shift > 0)[:, None], alike + shift[:, None], -np.inf)
                value[places, range(len(places))] = -np.inf
                for word, best in zip(part, value.argmax(axis=0).tolist(), strict=True):
                    out.setdefault(word, {})[other] = space.words[best]
    return out


def analogies(space: WordSpace, seeds: Mapping[str, Sequence[str]]) -> list[Proposal]:
    """Propose the counterparts of all seeds in the other groups."""
    given = {spelling.fold(word) for words in seeds.values() for word in words}
    return [
        Proposal(name, other, f"{ANALOGY} to {word}")
        for word, found in counterparts(space, seeds, seeds).items()
        for other, name in found.items()
        if name not in given
    ]


def propose(
    space: WordSpace, seeds: Mapping[str, Sequence[str]], most: int
) -> dict[str, list[Proposal]]:
    """Propose words for each group: its seeds, then analogies, then neighbours."""
    check_seeds(seeds)
    near = neighbours(space, seeds, most)
    similar = analogies(space, seeds)
    out: dict[str, list[Proposal]] = {}
    for group, words in seeds.items():
        every = [
            *(Proposal(word, group, SEED) for word in words),
            *(each for each in similar if each.group == group),
            *near[group],
        ]
        out[group] = list({spelling.fold(each.word): each for each in reversed(every)}.values())
        out[group].sort(key=every.index)
    return out
