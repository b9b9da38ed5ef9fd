"""What a plan is made of: means and balances that are asked for, additions that are planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.transforms.measures.coverage.gaps import words
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.patterns import Ints

Kind = Literal["synthetic", "augmented", "substituted", "reweighted"]
# What a record of a kind costs unless said otherwise: an invented text is checked by nobody, a
# changed copy says what a person has said, and a weight adds nothing to read
COSTS: dict[Kind, float] = {
    "synthetic": 1.0,
    "augmented": 0.5,
    "substituted": 0.5,
    "reweighted": 0.25,
}


class PlanError(EvenflowError, ValueError):
    """There is no plan, or the question is too large.

    Attributes:
        conflict: The constraints that cannot hold together, in words.
    """

    status = USAGE

    def __init__(self, text: str, conflict: Sequence[str] = ()):
        super().__init__(text)
        self.conflict = list(conflict)


SEVERE = Fraction(33, 100)  # of a share among two groups: IntersectionRE, section 3.3


@dataclass(frozen=True)
class Rates:
    """How fast an adaptive balance moves shares (IntersectionRE, equations 2 and 3).

    Attributes:
        severe_least: α₁, of the present share, for the least share of a rare group.
        least: α₂, of other groups.
        severe_most: β₁, for the greatest share of a rare group.
        most: β₂, of other groups.
    """

    severe_least: Fraction = Fraction(3, 2)
    least: Fraction = Fraction(9, 10)
    severe_most: Fraction = Fraction(2)
    most: Fraction = Fraction(11, 10)

    def bounds(self, share: Fraction, groups: int) -> tuple[Fraction, Fraction]:
        """The least and the greatest share that a group may have.

        The paper has two groups. With more of them, its constants are taken of an even share.

        Args:
            share: Its share before, R_a.
            groups: Number of groups.

        Returns:
            Equations 2 and 3.
        """
        even = Fraction(1, groups)
        if share < SEVERE * 2 * even:
            return min(self.severe_least * share, even), max(self.severe_most * share, even)
        return (
            min(self.least * share, Fraction(9, 10) * even),
            max(self.most * share, Fraction(11, 10) * even),
        )


@dataclass(frozen=True)
class Balance:
    """Groups of an attribute that should be even within each value of another.

    Attributes:
        attribute: Whose groups.
        within: Within each value of this attribute; None: among all records.
        epsilon: How far a group's share may be from an even one.
        rates: Bounds that depend on the present share, in place of epsilon; None: epsilon holds.
    """

    attribute: str
    within: str | None
    epsilon: Fraction = Fraction(0)
    rates: Rates | None = None

    def bounds(self, counts: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
        """The least and the greatest share of each group.

        Args:
            counts: Records of each group.

        Returns:
            Bounds by group. With rates the greatest group has none: the others' bounds are its own.
        """
        groups, total = len(counts), sum(counts)
        even = Fraction(1, groups)
        if self.rates is None:
            return [(even - self.epsilon, even + self.epsilon)] * groups
        greatest = counts.index(max(counts))
        return [
            (Fraction(0), Fraction(1))
            if number == greatest
            else self.rates.bounds(count / total if total else Fraction(0), groups)
            for number, count in enumerate(counts)
        ]


@dataclass(frozen=True)
class Means:
    """What records may be added, and what they cost.

    Attributes:
        costs: Cost of a record by kind. A kind without a cost is not used.
        most: Most records of a kind; a kind that is not named has no limit.
        exchange: Attributes whose value can be exchanged in a record, for changed copies and
            substitutions.
        weight: Greatest weight of a record, for reweighted ones.
    """

    costs: Mapping[Kind, float] = field(default_factory=lambda: {"synthetic": COSTS["synthetic"]})
    most: Mapping[Kind, int] = field(default_factory=dict[Kind, int])
    exchange: Sequence[str] = ()
    weight: float = 4.0


@dataclass(frozen=True)
class Needs:
    """What a new record must have a value of, so that somebody can write it.

    Attributes:
        every: Each of these attributes.
        one: One of these, if there are some.
    """

    every: Sequence[str] = ()
    one: Sequence[str] = ()

    def of(self, name: str, target: Mapping[str, str]) -> bool:
        """Whether records with these values need one of an attribute."""
        if name in target:
            return False
        return name in self.every or (name in self.one and not any(e in target for e in self.one))


@dataclass(frozen=True)
class Addition:
    """Records of one kind to add.

    Attributes:
        kind: How they come about.
        records: How many.
        target: Values that they have; what is not named may be anything.
        source: Values of the records that are copied or changed; None for others.
    """

    kind: Kind
    records: int
    target: dict[str, str]
    source: dict[str, str] | None = None

    def words(self, things: Sequence[str]) -> str:
        """The addition in words.

        Args:
            things: What a record is called, one and several.
        """
        number = f"{self.records:,} {things[self.records != 1]}"
        if self.kind == "substituted":
            return f"change {number} from {words(self.source or {})} to {words(self.target)}"
        if self.kind == "augmented":
            return f"copy {number} with {words(self.source or {})}, changed to {words(self.target)}"
        if self.kind == "reweighted":
            return f"give {number} with {words(self.target)} their weight once more"
        return f"add {number} with {words(self.target)}"


@dataclass(frozen=True)
class Plan:
    """The cheapest additions.

    Attributes:
        additions: What to add, the most first.
        cost: What it costs.
        proven: Whether no plan is cheaper; False if time ran out.
        closed: Codes of the chosen gaps.
        after: The coverage after the additions; what is not named is not known there.
    """

    additions: list[Addition]
    cost: float
    proven: bool
    closed: Ints
    after: Coverage

    @property
    def records(self) -> int:
        """Number of records that are added or changed."""
        return sum(each.records for each in self.additions)
