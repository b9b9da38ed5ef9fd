"""What the reader says of the exchanges of labelled documents."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from pathlib import Path
from typing import Any

from evenflow.transforms import wilson
from evenflow.transforms.lab.training.labelled import Labelled
from evenflow.transforms.labels.finder import LabelFinder, uncut
from evenflow.transforms.models.reader import NEVER, Reader
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.substitution.reading import JoinedSets, places_of
from evenflow.transforms.substitution.sets import Edit, Set
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.substitution.windows import show_windows
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists.loader import load

GRID = tuple(round(0.01 * step, 2) for step in range(1, 100))
Exchange = tuple[int, str, tuple[int, ...]]  # number of the document, attribute, mentions
LEAST = 10  # exchanges that a cut needs: of fewer the luckiest few would be chosen
SENTENCES = "exchange_sentences.jsonl"


@dataclass(frozen=True)
class JudgedSet:
    """A set of a labelled document, with those that are joined to it.

    Attributes:
        stays: By mention of the group outside of it, the logit that it is one of its persons.
        people: By person, the other mentions of the person in the group.
    """

    number: int
    document: str
    source: str
    attribute: str
    way: tuple[str, str]
    first: float
    logit: float
    stays: Mapping[int, float]
    right: bool
    people: Mapping[int, frozenset[int]]
    mentions: tuple[int, ...]

    @property
    def key(self) -> Exchange:
        """Which exchange it is; sets that are joined are one."""
        return self.number, self.attribute, self.mentions


@dataclass(frozen=True)
class Chance:
    """How probable an exchange is, where all that are as probable in its document change too.

    Attributes:
        whole: By person, the greatest probability from which nothing of them stays: a person is
            changed by half if a mention of them, by the labels, that the lists know, stays in the
            old group while another one changes.
        right: The greatest cut with which it is right and everybody whole; -1: none.
    """

    probability: float
    whole: Mapping[int, float]
    right: float


class Finder:
    """Finds the sets of labelled documents."""

    def __init__(self, first: FirstStage):
        self._lists = [load(name) for name in ("gender", "age", "religion")]
        self._finder = LabelFinder(self._lists)
        self._makers = {
            words.attribute: Substituter(self._lists, words.attribute, first=first)
            for words in self._lists
        }

    def find(self, of: Labelled) -> tuple[list[Set], list[str | None]]:
        """Find the sets of a document."""
        every = self._finder.find_all(of.text)
        sentences = trimmed(of.text, uncut(bounds(of.text), every).tolist())
        sets = self._makers[of.attribute].propose(of.text, sentences, self._finder.named(every))
        new = {place.start: place.new for place in of.places}
        if any(mention.start not in new for own in sets for mention in own.mentions):
            return [], []

        def fits(edits: Sequence[Edit]) -> bool:
            shown = any(new.values())
            return not shown or any(new.get(edit.start) == edit.replacement for edit in edits)

        return sets, [
            next((to for to, edits in own.edits.items() if fits(edits)), None) for own in sets
        ]

    def windows(self, documents: Iterable[Labelled]) -> tuple[list[str], list[bool]]:
        """Show exchanges as the first stage sees them.

        Returns n marked windows; and whether the exchange of each is right, (n,).
        """
        shown: list[str] = []
        right: list[bool] = []
        for each in documents:
            owners = each.owners
            at = {place.start: index for index, place in enumerate(each.places)}
            for own, target in zip(*self.find(each), strict=True):
                if target is not None:
                    meant = {owners[at[mention.start]] for mention in own.mentions}
                    windows = show_windows(each.text, own, target)
                    shown += windows
                    right += [all(each.meant[one].right for one in meant)] * len(windows)
        return shown, right


class SetJudge:
    """Judges the sets of labelled documents as a gate does."""

    def __init__(self, reader: Reader, first: FirstStage):
        self._reader, self._finder = reader, Finder(first)

    def judge(self, documents: Iterable[Labelled]) -> list[JudgedSet]:
        """Judge every set whose form allows an exchange."""
        return [judged for each in documents for judged in self._of(each)]

    def _of(self, of: Labelled) -> Iterator[JudgedSet]:
        sets, targets = self._finder.find(of)
        if not any(targets):
            return
        mentions, places = places_of(sets, None)
        at = {place.start: index for index, place in enumerate(of.places)}
        here = [at[each.start] for each in mentions]
        if self._reader.shows(of.attribute):  # the words that the annotator was shown
            places = [of.places[index] for index in here]
        document = JoinedSets(self._reader.read(of.text, places), mentions, sets)
        owners = of.owners
        for number, target in enumerate(targets):
            if target is None:
                continue
            people = document.people(number, target)
            (person,) = (each for each in people if number in each)
            own, staying = document.divide(person)
            gold, said = {here[each] for each in own}, map(document.reading.said, own)
            stays: dict[int, float] = {}
            for other, value in (link for each in said for link in each.links.items()):
                if other in staying:
                    stays[here[other]] = max(value, stays.get(here[other], NEVER))
            source = sets[number].source
            group = {index for index, each in enumerate(of.groups) if each == source}
            rest = {
                each: frozenset(group.intersection(of.meant[each].mentions) - gold)
                for each in {owners[each] for each in gold}
            }
            first, worst = sets[number].confidence, document.reading.worst(own, ())[0].right
            found = first, worst, stays, all(of.meant[each].right for each in rest), rest
            key = of.number, of.document, of.source, of.attribute, (source, target)
            yield JudgedSet(*key, *found, tuple(sorted(gold)))


def chances(reader: Reader, judged: Iterable[JudgedSet]) -> dict[Exchange, Chance]:
    """The probability of each exchange: from there on it is among those that are made.

    As `reading.DocumentJudge` decides: what stays of a person speaks against the exchange.
    """
    together: defaultdict[tuple[Any, ...], dict[Exchange, JudgedSet]] = defaultdict(dict)
    for each in judged:
        together[each.number, each.attribute, each.way][each.key] = each
    out: dict[Exchange, Chance] = {}
    for own in together.values():
        left, least, done = dict(own), 0.0, dict[int, float]()
        found: dict[Exchange, float] = {}
        while left:  # the least probable one is the next that stays
            changing = {mention for each in left.values() for mention in each.mentions}
            for key, each in left.items():
                stays = (value for at, value in each.stays.items() if at not in changing)
                stay = max(stays, default=NEVER)
                found[key] = reader.calibrated(each.attribute, each.logit, stay)
            last = min(left, key=found.__getitem__)
            found[last] = least = max(least, found[last])
            done.update((at, max(least, done.get(at, 0))) for at in left.pop(last).mentions)
        for key, each in own.items():
            whole = {
                person: min((done.get(at, 0.0) for at in rest), default=1.0)
                for person, rest in each.people.items()
            }
            right = min(whole.values()) if each.right else -1.0
            out[key] = Chance(found[key], whole, right)
    return out


def right_sentences(path: Path) -> dict[Exchange, bool]:
    """Read the labels of exchanges by sentence."""
    rows = map(json.loads, path.read_text("utf-8").splitlines())
    return {
        (row["number"], row["attribute"], tuple(row["mentions"])): row["sentence"] for row in rows
    }


def cuts(rows: Sequence[tuple[float, float, float]]) -> list[list[float]]:
    """Find the probabilities from which exchanges are ever surer to be right.

    `rows`: Probability, up to which cut it is right, and up to which by document. Returns of each
    cut its probability, the exchanges from there on, those right, those right by document. The
    first cut has all rows.
    """
    out: list[list[float]] = []
    best = -1.0
    first = ceil(1000 * min(rows, default=(0.0,))[0]) / 1000
    for cut in [first, *(each for each in GRID if each > first)]:
        made = [row for row in rows if row[0] >= cut]
        if len(made) < LEAST:
            continue
        right, document = (sum(row[at] >= cut for row in made) for at in (1, 2))
        low = wilson.interval(right / len(made), len(made))[0]
        if low > best:
            best = low
            out.append([cut, len(made), right, document])
    return out
