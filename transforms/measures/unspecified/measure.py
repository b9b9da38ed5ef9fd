"""People without a group as a measure: the share of words for people that say no group.

1. A list may have words for people of which no group is said (its key `unspecified`): of gender
   “student”, “people”. They are searched together with its labels, so that a word
   within a longer label does not count.
2. The share is theirs of all words for people, with those of the groups. It is a ratio of sums over
   documents. Its interval is that of DR with a target of groups alone, which is the same figure.
3. A word says no group, the text around it may: “she is a student” has a word of each kind.

These words are in no DR and in no verdict.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evenflow.schemas.config import Config
from evenflow.schemas.config.section import Section
from evenflow.schemas.documents import summed
from evenflow.schemas.ledger import Entry, Measured, Score, Sums, Verdict
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.labels.searched import Searched
from evenflow.transforms.measures.measure import (
    Columns,
    Counter,
    Family,
    Measure,
    MeasureTotals,
    rolled,
)
from evenflow.transforms.measures.representation.dr import score
from evenflow.wordlists.loader import UNSPECIFIED, WordList

DIGITS = 6
ALL_OF_GROUPS = (0.0, 1.0)  # target of (without a group, with one): DR is the share without
NOT_JUDGED = "people without a group are measured, not judged"


class UnspecifiedSettings(Section):
    """Settings of people without a group: none."""


class WordsForPeople(Entry):
    """Words for people, of an attribute.

    Attributes:
        shares: Share of the words of each group, and of those that say none; empty without a word.
        low: Lower bound of the share that says none; None without two documents that have one.
        high: Upper bound.
        mentions: Number of the words.
        documents: Number of documents with one.
    """

    shares: dict[str, float]
    low: float | None
    high: float | None
    mentions: int
    documents: int


class Unspecified(Measured):
    """People without a group, of a pane.

    Attributes:
        sums: Of each attribute the pane's documents with a word for people, its words by group, and
            sums of products over documents.
        rolling: Each attribute over the rolling panes.
        cumulative: Each attribute over all panes.
    """

    sums: dict[str, Any]
    rolling: dict[str, WordsForPeople]
    cumulative: dict[str, WordsForPeople]


class UnspecifiedCounter(Counter):
    """Counts words for people that say no group.

    Args:
        lists: The word lists of the measured attributes.
    """

    def __init__(self, lists: Sequence[WordList]):
        numbered = [(number, each) for number, each in enumerate(lists) if each.unspecified]
        self._lists = numbered
        self._finder = LabelFinder([each.with_unspecified for _, each in numbered])

    def count(
        self, found: Documents, piece: Searched, columns: Columns | None = None
    ) -> dict[str, Any]:
        """Count words for people: the sums of `Unspecified`."""
        out: dict[str, Any] = {}
        again = self._finder.find_together(piece.texts, piece.languages)[2]
        for (number, words), own in zip(self._lists, again, strict=True):
            groups = piece.counts(number, size := len(words.groups))
            owners = piece.owners(own.starts[own.groups == size])
            without = np.bincount(owners, minlength=len(piece.texts))
            both = np.stack([without, groups.sum(axis=1)], axis=1)
            (free, cross), (_, named) = (both.T @ both).tolist()
            counts = dict(zip(words.groups, groups.sum(axis=0).tolist(), strict=True))
            out[words.attribute] = {
                "documents": int(both.any(axis=1).sum()),
                "counts": counts | {UNSPECIFIED: int(without.sum())},
                "products": {"without": free, "cross": cross, "with": named},
            }
        return out


class UnspecifiedPeople(Measure[Unspecified]):
    """People without a group."""

    name = "unspecified"
    title = "people without a group"
    record = Unspecified
    settings = UnspecifiedSettings
    limits = ()
    template = "unspecified.html.j2"

    def counter(self, config: Config, lists: Sequence[WordList]) -> Counter | None:
        """What counts them; None if the configuration does not name the measure."""
        return None if self.own_settings(config) is None else UnspecifiedCounter(lists)

    def judge(
        self,
        config: Config,
        lists: Sequence[WordList],
        counted: Mapping[str, Any],
        totals: MeasureTotals | None,
    ) -> Unspecified | None:
        """Score the next pane; it is always open."""
        if self.own_settings(config) is None:
            return None
        sums = dict(counted)
        whole = sums if totals is None else summed(sums, totals.sums)
        scored = [
            {attribute: _people(own, config.gate.confidence) for attribute, own in each.items()}
            for each in (rolled(sums, totals), whole)
        ]
        verdict = Verdict(state="open", reason=NOT_JUDGED)
        return Unspecified(sums=sums, rolling=scored[0], cumulative=scored[1], verdict=verdict)

    def sums(self, record: Unspecified) -> dict[str, Any]:
        """The sums of the pane."""
        return record.sums

    def without_sums(self, record: Unspecified) -> Unspecified:
        """A record without the pane's sums."""
        return record.model_copy(update={"sums": {}})

    def section(self, totals: MeasureTotals, documents: int, aside: int) -> dict[str, Any]:
        """Figures of all panes by attribute, and the verdict."""
        last = self._own(totals)
        people = {name: each.model_dump() for name, each in last.cumulative.items()}
        return {"attributes": people, "verdict": last.verdict.model_dump(), "panes": totals.states}

    def lines(self, section: Mapping[str, Any]) -> list[str]:
        """A line for each attribute: the share without a group, its interval, and the others."""
        return [
            f"people without a group: {attribute}: {_said(each)}"
            for attribute, each in section["attributes"].items()
        ]

    def families(self, totals: MeasureTotals | None) -> Iterator[Family]:
        """Yield the words by attribute and group, and the share without a group, rolling."""
        sums = {} if totals is None else totals.sums
        counts = {
            (attribute, group): count
            for attribute, own in sums.items()
            for group, count in own["counts"].items()
        }
        about = "Words for people by group, and those that say none."
        yield Family("unspecified_words", about, ["attribute", "group"], counts, True)
        last = {} if totals is None else self._own(totals).rolling
        shares = {
            (attribute, figure): value
            for attribute, own in last.items()
            for figure, value in (
                ("share", own.shares.get(UNSPECIFIED)), ("low", own.low), ("high", own.high)
            )
        }  # fmt: skip
        about = "Share of words for people that say no group, rolling panes."
        yield Family("unspecified_share", about, ["attribute", "figure"], shares)

    def look(self, config: Config, on_note: Callable[[str], None]) -> None:
        """Tell that nothing is counted, where no list has such words."""
        is_on = self.own_settings(config) is not None
        if is_on and not any(each.unspecified for each in config.word_lists()):
            on_note("measures.unspecified: no measured word list has the key `unspecified`")

    def program(self, config: Config) -> str | None:
        """The words that it counts, by attribute."""
        if self.own_settings(config) is None:
            return None
        lists = config.word_lists()
        return repr([(each.attribute, each.unspecified) for each in lists if each.unspecified])


def _people(own: Mapping[str, Any], confidence: float) -> WordsForPeople:
    """The shares of an attribute's sums."""
    counts, products = own["counts"], own["products"]
    total, without = sum(counts.values()), counts[UNSPECIFIED]
    sums = Sums(
        documents=own["documents"],
        counts=[without, total - without],
        products=[
            [products["without"], products["cross"]],
            [products["cross"], products["with"]],
        ],
    )
    found: Score = score(sums, ALL_OF_GROUPS, confidence)
    return WordsForPeople(
        shares={group: round(count / total, DIGITS) for group, count in counts.items()}
        if total
        else {},
        low=found.low,
        high=found.high,
        mentions=total,
        documents=own["documents"],
    )


def _said(people: Mapping[str, Any]) -> str:
    """An attribute's figures in words."""
    shares = people["shares"]
    if not shares:
        return "no word for people"
    others = ", ".join(
        f"{group} {share:.1%}" for group, share in shares.items() if group != UNSPECIFIED
    )
    interval = "no interval"
    if people["low"] is not None:
        interval = f"{people['low']:.1%} to {people['high']:.1%}"
    return f"{shares[UNSPECIFIED]:.1%} ({interval}) of {people['mentions']:,} words; {others}"
