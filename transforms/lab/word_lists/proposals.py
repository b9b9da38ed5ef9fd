"""Words that are proposed for groups, and their counterparts by static vectors.

A language model is asked for them in r runs of l words: the first step of Algorithm 1 of the main
paper.

A counterpart is what is to one group as a word is to its own: a near word that is nearer to the
mean of the other group's seeds than to that of its own.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evenflow.prompts import loader
from evenflow.schemas.errors import UsageError
from evenflow.transforms.llm.client.cache import Cache
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.settings import ServerSettings
from evenflow.transforms.llm.questions import Asker, Question
from evenflow.transforms.measures.bias_score.vectors import Vectors
from evenflow.transforms.text import english
from evenflow.wordlists import spelling
from evenflow.wordlists.parsing import label_problem

SEED = "seed"
AT_ONCE = 64  # words whose cosines with all others are in memory, 8 bytes each

Floats = npt.NDArray[np.float64]
PROMPT = "wordlist"
TEMPERATURE = 0.7  # above 0, so that the runs differ
TOKENS = 12  # of an answer for each word that is asked for, with room for rare words
DEADLINE = 600.0  # seconds for an answer of hundreds of words


class ProposalError(UsageError):
    """Seeds that cannot be used; the message says why."""


@dataclass(frozen=True)
class Proposal:
    """A word that is proposed for a group."""

    word: str
    group: str
    source: str


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


@dataclass(frozen=True)
class AskedWords:
    """What came back."""

    proposals: dict[str, list[Proposal]]
    answers: int
    failed: dict[str, int]
    unusable: int


def questions(
    attribute: str, seeds: Mapping[str, Sequence[str]], runs: int, words: int
) -> list[tuple[str, int, Question]]:
    """Make the questions, run by run."""
    prompt = loader.load(PROMPT)
    return [
        (group, run, Question.of(prompt, f"words for the group {group} of {attribute}", slots))
        for run in range(1, runs + 1)
        for group, examples in seeds.items()
        for slots in [
            {
                "attribute": attribute,
                "group": group,
                "others": [each for each in seeds if each != group],
                "examples": list(examples),
                "number": str(words),
                "run": str(run),
            }
        ]
    ]


def ask(
    asker: Asker, attribute: str, seeds: Mapping[str, Sequence[str]], runs: int, words: int
) -> AskedWords:
    """Ask for words, and fold duplicates."""
    every = questions(attribute, seeds, runs, words)
    found: dict[str, dict[str, Proposal]] = {group: {} for group in seeds}
    failed: dict[str, int] = {}
    answers = unusable = 0
    for (group, run, _), answer in zip(every, asker.ask([each for *_, each in every]), strict=True):
        if answer.value is None:
            failed[answer.reason] = failed.get(answer.reason, 0) + 1
            continue
        answers += 1
        for given in answer.value["words"]:
            word = " ".join(str(given).split()).lower()
            if label_problem(word):
                unusable += 1
            else:
                found[group].setdefault(
                    spelling.fold(word), Proposal(word, group, f"language model, run {run}")
                )
    if not answers:
        reasons = ", ".join(f"{count} of {reason}" for reason, count in failed.items())
        raise ProposalError(f"the language model answered no question: {reasons}")
    return AskedWords(
        {group: list(own.values()) for group, own in found.items()}, answers, failed, unusable
    )


def ask_server(
    settings: ServerSettings,
    cache: Path,
    attribute: str,
    seeds: Mapping[str, Sequence[str]],
    runs: int,
    words: int,
) -> AskedWords:
    """Ask a server for words, whose answers are kept; the seeds are the first proposals."""
    own = replace(
        settings,
        temperature=TEMPERATURE,
        max_tokens=TOKENS * words + 100,
        deadline=max(DEADLINE, settings.deadline),
    )
    with Client(own, Cache(cache)) as client:
        found = ask(client, attribute, seeds, runs, words)
    proposals = {
        group: [*(Proposal(word, group, SEED) for word in seeds[group]), *words]
        for group, words in found.proposals.items()
    }
    return replace(found, proposals=proposals)
