"""What the reader says of the exchanges of labelled documents."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from evenflow.transforms import wilson
from evenflow.transforms.lab.training.labelled import Labelled
from evenflow.transforms.labels.finder import LabelFinder, uncut
from evenflow.transforms.models.encoder import logistic
from evenflow.transforms.models.reader import Reader
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.substitution.reading import JoinedSets, places_of
from evenflow.transforms.substitution.sets import Set
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.substitution.windows import show_windows
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists.loader import load

PRECISIONS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
GRID = tuple(round(0.3 + 0.01 * step, 2) for step in range(70))


@dataclass(frozen=True)
class JudgedSet:
    """A set of a labelled document, with those that are joined to it."""

    document: str
    source: str
    attribute: str
    first: float
    logit: float
    stay: float
    right: bool
    whole: bool
    mentions: tuple[int, ...]

    def probability(self, slope: float = 1.0, shift: float = 0.0) -> float:
        """The probability that the exchange is right and nobody is changed by half."""
        return float(logistic(slope * self.logit + shift) * (1 - logistic(self.stay)))


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
        targets = [
            next(
                (
                    target
                    for target, edits in own.edits.items()
                    if not any(new.values())
                    or any(new.get(edit.start) == edit.replacement for edit in edits)
                ),
                None,
            )
            for own in sets
        ]
        return sets, targets

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

    def __init__(self, reader: Reader, first: FirstStage, joins: bool = True):
        self._reader, self._finder, self._joins = reader, Finder(first), joins

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
            joined = document.of(number, target) if self._joins else (number,)
            own, staying = document.divide(joined)
            gold = {here[each] for each in own}
            meant = [of.meant[each] for each in {owners[each] for each in gold}]
            worst, stay = document.reading.worst(own, staying)
            yield JudgedSet(
                of.document,
                of.source,
                of.attribute,
                sets[number].confidence,
                worst.right,
                stay,
                all(each.right for each in meant),
                all(gold.issuperset(each.mentions) for each in meant),
                tuple(sorted(gold)),
            )


def cuts(rows: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """Find the probabilities from which exchanges are right often enough.

    Returns by precision, the least of the probabilities `GRID` from which on it is below the
    interval (Wilson, 95 %) of the share that is right. A precision that is not reached is missing.
    """
    out: dict[str, float] = {}
    for precision in PRECISIONS:
        for cut in GRID:
            made = [right for chance, right in rows if chance >= cut]
            if made and wilson.interval(sum(made) / len(made), len(made))[0] >= precision:
                out[f"{precision:.2f}"] = cut
                break
    return out
