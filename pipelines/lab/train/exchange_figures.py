"""What the reader says of the exchanges of labelled documents."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil, nextafter
from pathlib import Path

from evenflow.transforms import wilson
from evenflow.transforms.lab.training.labelled import Labelled
from evenflow.transforms.labels.finder import LabelFinder, uncut
from evenflow.transforms.models.reader import Reader
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.substitution.reading import JoinedSets, Person, places_of
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
        logit: That the exchange is right, by its mentions alone.
        probability: From there on the exchange is made, beside all that are as probable.
        whole: By person, the greatest probability from which nothing of them stays: a person is
            changed by half if a mention of them, by the labels, that the lists know, stays in the
            old group while another one changes. 1: it has all their mentions.
        right: Whether everybody whom it names may change.
    """

    number: int
    document: str
    source: str
    attribute: str
    logit: float
    probability: float
    whole: Mapping[int, float]
    right: bool
    mentions: tuple[int, ...]

    @property
    def key(self) -> Exchange:
        """The exchange, which all sets that are joined share."""
        return self.number, self.attribute, self.mentions

    @property
    def until(self) -> float:
        """The greatest cut with which it is right and everybody whole; -1: none."""
        return min(self.whole.values()) if self.right else -1.0


class Finder:
    """Finds the sets of labelled documents."""

    def __init__(self, first: FirstStage):
        self._lists = [load(name) for name in ("gender", "age", "religion")]
        self._finder = LabelFinder(self._lists)
        self._makers = {
            words.attribute: Substituter(self._lists, words.attribute, first=first, by_line=True)
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
        document = JoinedSets(self._reader, self._reader.read(of.text, places), mentions, sets)
        owners = of.owners
        ways = ((own.source, to) for own, to in zip(sets, targets, strict=True) if to is not None)
        for way in dict.fromkeys(ways):
            people = [
                person
                for number, person in document.people(*way).items()
                if targets[number] == way[1]
            ]
            chances = _made_from(document, way[0], people)
            gold = {one: tuple(here[each] for each in document.mentions_of(one)) for one in people}
            done = {at: chance for one, chance in chances.items() for at in gold[one]}
            for one in people:
                whole = {
                    who: min(
                        (
                            done.get(at, 0.0)
                            for at in of.meant[who].mentions
                            if of.groups[at] == way[0] and at not in gold[one]
                        ),
                        default=1.0,
                    )
                    for who in {owners[at] for at in gold[one]}
                }
                right = all(of.meant[who].right for who in whole)
                logit = document.reading.worst(document.mentions_of(one), ())[0].right
                found = logit, chances[one], whole, right, gold[one]
                yield JudgedSet(of.number, of.document, of.source, of.attribute, *found)


def _made_from(document: JoinedSets, source: str, people: Sequence[Person]) -> dict[Person, float]:
    """Find the probability from which each exchange is made, with all that are as probable."""
    out, least, left = dict[Person, float](), 0.0, list(dict.fromkeys(people))
    while left:
        least = max(least, min(document.together(source, left, 0.0).values()))
        surer = document.together(source, left, nextafter(least, 1))
        out |= dict.fromkeys((one for one in left if one not in surer), least)
        left = list(surer)
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
