"""What a plan is made of: balances that are asked for, additions that are planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evenflow.schemas.errors import UsageError
from evenflow.transforms.measures.coverage.gaps import words
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.patterns import Ints


class PlanError(UsageError):
    """There is no plan, or the question is too large."""

    def __init__(self, text: str, conflict: Sequence[str] = ()):
        super().__init__(text)
        self.conflict = list(conflict)


SEVERE = Fraction(33, 100)  # of a share among two groups: IntersectionRE, section 3.3


@dataclass(frozen=True)
class Rates:
    """How fast an adaptive balance moves shares (IntersectionRE, equations 2 and 3)."""

    severe_least: Fraction = Fraction(3, 2)
    least: Fraction = Fraction(9, 10)
    severe_most: Fraction = Fraction(2)
    most: Fraction = Fraction(11, 10)

    def bounds(self, share: Fraction, groups: int) -> tuple[Fraction, Fraction]:
        """The least and the greatest share that a group may have.

        The paper has two groups. With more of them, its constants are taken of an even share.

        Returns equations 2 and 3.
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

    `within`: Within each value of this attribute; None: among all records. `rates`: Bounds that
    depend on the present share, in place of epsilon; None: epsilon holds.
    """

    attribute: str
    within: str | None
    epsilon: Fraction = Fraction(0)
    rates: Rates | None = None

    def bounds(self, counts: Sequence[Fraction]) -> list[tuple[Fraction, Fraction]]:
        """The least and the greatest share of each group."""
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
class Needs:
    """What a new record must have a value of, so that somebody can write it."""

    every: Sequence[str] = ()
    one: Sequence[str] = ()

    def of(self, name: str, target: Mapping[str, str]) -> bool:
        """Whether records with these values need one of an attribute."""
        if name in target:
            return False
        return name in self.every or (name in self.one and not any(e in target for e in self.one))


@dataclass(frozen=True)
class Addition:
    """Records with the same values to add."""

    records: int
    target: dict[str, str]

    def words(self, things: Sequence[str]) -> str:
        """The addition in words."""
        return f"add {self.records:,} {things[self.records != 1]} with {words(self.target)}"


@dataclass(frozen=True)
class Plan:
    """The fewest additions."""

    additions: list[Addition]
    proven: bool
    closed: Ints
    after: Coverage

    @property
    def records(self) -> int:
        """Number of records that are added."""
        return sum(each.records for each in self.additions)
