"""What the reader says of the exchanges of labelled documents, and how right it is."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from evenflow.transforms import wilson
from evenflow.transforms.lab.training.evaluate import share
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

# Probabilities of the tables of precision
CUTS = (0.5, 0.6, 0.7, 0.8, 0.9)
PRECISIONS = (0.6, 0.7, 0.75, 0.8, 0.85, 0.9, 0.95)
GRID = tuple(round(0.3 + 0.01 * step, 2) for step in range(70))


@dataclass(frozen=True)
class JudgedSet:
    """A set of a labelled document, with those that are joined to it.

    Attributes:
        document: The document.
        source: Its kind of text.
        attribute: The attribute.
        first: The first stage's probability.
        logit: The reader's logit that the exchange is right, the least over the mentions.
        stay: Its logit that a mention of the same person would stay, the greatest.
        right: Whether everybody whom the sets name may change.
        whole: Whether they have all mentions of everybody whom they name.
        mentions: The mentions' indices in the document.
    """

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
    """Finds the sets of labelled documents.

    Args:
        first: Gives their first probability.
    """

    def __init__(self, first: FirstStage):
        self._lists = [load(name) for name in ("gender", "age", "religion")]
        self._finder = LabelFinder(self._lists)
        self._makers = {
            words.attribute: Substituter(self._lists, words.attribute, first=first)
            for words in self._lists
        }

    def find(self, of: Labelled) -> tuple[list[Set], list[str | None]]:
        """Find the sets of a document.

        Args:
            of: The document.

        Returns:
            The n sets of its attribute; and the target of each for which the annotator was shown
            these words, None where the set may not change. No sets where the word list of today
            finds other mentions.
        """
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

        Args:
            documents: The documents.

        Returns:
            n marked windows; and whether the exchange of each is right, (n,).
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
    """Judges the sets of labelled documents as a gate does.

    Args:
        reader: The reader.
        first: The first stage.
        joins: Whether sets of one person are joined (an ablation).
    """

    def __init__(self, reader: Reader, first: FirstStage, joins: bool = True):
        self._reader, self._finder, self._joins = reader, Finder(first), joins

    def judge(self, documents: Iterable[Labelled]) -> list[JudgedSet]:
        """Judge every set whose form allows an exchange.

        Args:
            documents: The documents.

        Returns:
            The sets.
        """
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


def right_mentions(documents: Iterable[Labelled]) -> Counter[str]:
    """Count by attribute the mentions that may change."""
    out: Counter[str] = Counter()
    for each in documents:
        out[each.attribute] += sum(len(one.mentions) for one in each.meant if one.right)
    return out


def table(
    judged: Sequence[JudgedSet],
    chances: Sequence[float],
    wanted: Counter[str],
    cuts: Sequence[float] = CUTS,
) -> list[str]:
    """Write precision and recall by attribute and cut.

    Args:
        judged: The sets.
        chances: The probability of each.
        wanted: See `right_mentions`.
        cuts: Probabilities from which an exchange is made.

    Returns:
        Lines of a Markdown table.
    """
    out = [
        "| attribute | from | right and whole, of those made | documents without a wrong change |"
        " mentions done, of those that may change |",
        "|---|---|---|---|---|",
    ]
    for attribute in dict.fromkeys(each.attribute for each in judged):
        own = [
            (each, chance)
            for each, chance in zip(judged, chances, strict=True)
            if each.attribute == attribute
        ]
        for cut in cuts:
            made = {(each.document, each.mentions): each for each, chance in own if chance >= cut}
            good = [each for each in made.values() if each.right and each.whole]
            changed = {document for document, _ in made}
            bad = {each.document for each in made.values() if each not in good}
            done = len({(each.document, at) for each in good for at in each.mentions})
            out.append(
                f"| {attribute} | {cut:.2f} | {share(len(good), len(made))} |"
                f" {share(len(changed - bad), len(changed))} |"
                f" {share(done, wanted[attribute])} |"
            )
    return out


def cuts(rows: Sequence[tuple[float, bool]]) -> dict[str, float]:
    """Find the probabilities from which exchanges are right often enough.

    Args:
        rows: The probability of each exchange, and whether it is right.

    Returns:
        By precision, the least of the probabilities `GRID` from which on it is below the interval
        (Wilson, 95 %) of the share that is right. A precision that is not reached is missing.
    """
    out: dict[str, float] = {}
    for precision in PRECISIONS:
        for cut in GRID:
            made = [right for chance, right in rows if chance >= cut]
            if made and wilson.interval(sum(made) / len(made), len(made))[0] >= precision:
                out[f"{precision:.2f}"] = cut
                break
    return out


def areas(judged: Sequence[JudgedSet], chances: Sequence[float]) -> list[str]:
    """Write the area under the curve by attribute: reader, first stage."""
    from evenflow.transforms.lab.training.evaluate import figures

    out: list[str] = []
    for attribute in dict.fromkeys(each.attribute for each in judged):
        at = [n for n, each in enumerate(judged) if each.attribute == attribute]
        true = np.array([judged[n].right and judged[n].whole for n in at])
        names = [judged[n].document for n in at]
        for title, values in (
            ("reader", [chances[n] for n in at]),
            ("first stage", [judged[n].first for n in at]),
        ):
            found = figures(np.array(values), true, names)
            out.append(
                f"{attribute} {title}: n {found.n}, right {found.right:.3f}, area {found.area:.3f}"
                f" [{found.low:.3f}, {found.high:.3f}]"
            )
    return out
