"""Named people as a measure: DR of women and men by first names, with soft counts.

1. A first name counts once a document, by the mean of its mentions' chances to name a person, r:
   a name mostly has one sense in a document (Gale, Church and Yarowsky 1992).
2. It counts for women by r p, for men by r (1 - p), p the share of women among its bearers. So a
   document d has the expected counts t_d, the sum of e = (r p, r (1 - p)) over its names.
3. Who is meant is not known. The sum over documents of products is that which the true counts have
   on average: t_d t_d^T, and of each name diag(e) - e e^T, its variance. So the interval holds the
   doubt about a name's gender, and about the recogniser on single names.
4. What the recogniser errs by on a whole kind of text joins the sums that are judged (`doubted`).

Counts are thousandths and products millionths in whole numbers, so that sums are the same in any
order.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.schemas.config import Config
from evenflow.schemas.config.section import Section, Share
from evenflow.schemas.documents import summed
from evenflow.schemas.ledger import Measured, Score, Sums, Verdict
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.searched import Searched
from evenflow.transforms.measures.measure import (
    Columns,
    Counter,
    Family,
    Measure,
    MeasureTotals,
    rolled,
)
from evenflow.transforms.measures.names.recogniser import Recogniser
from evenflow.transforms.measures.representation.dr import score
from evenflow.transforms.measures.representation.people import doubted
from evenflow.transforms.measures.verdict import Thresholds, decide
from evenflow.wordlists.loader import WordList

UNIT = 1000
LEAST = 50  # thousandths: a name with a lower chance does not count
GROUPS: tuple[str, ...] = ("female", "male")
KEYS: tuple[str, ...] = ("documents", *GROUPS, "female_female", "female_male", "male_male")
NEVER = 2.0  # above any DR

Ints = npt.NDArray[np.int64]


class NameSettings(Section):
    """Settings of named people.

    Attributes:
        female: The share of women that is even.
        warn: DR from which the lower bound warns; None: it never does.
        block: DR from which the lower bound blocks; None: it never does.
        min_people: Least number of people for a verdict.
    """

    female: Share = 0.5
    warn: Share | None = None
    block: Share | None = None
    min_people: int = 100


class Named(Measured):
    """Named people of a pane.

    Attributes:
        sums: Those of the pane, by `KEYS`.
        rolling: Score of the rolling panes.
        cumulative: Score of all panes.
    """

    sums: dict[str, int]
    rolling: Score
    cumulative: Score


def expected(text: str, recogniser: Recogniser) -> tuple[Ints, Ints] | None:
    """Count the named people of a document.

    Args:
        text: The document.
        recogniser: Finds first names.

    Returns:
        Expected counts of women and men, (2,), in thousandths, and their expected products,
        (2, 2), in millionths; None without a name.
    """
    chances: dict[str, list[float]] = defaultdict(list)
    for _, name, chance in recogniser.find(text):
        chances[name].append(chance)
    rows: list[tuple[int, int]] = []
    for name, found in chances.items():
        people = sum(found) / len(found) * UNIT
        if people >= LEAST:
            women = round(people * recogniser.names[name].female)
            rows.append((women, round(people) - women))
    if not rows:
        return None
    each = np.array(rows, np.int64)
    total = each.sum(0)
    return total, np.outer(total, total) + np.diag(total * UNIT) - each.T @ each


class NameCounter(Counter):
    """Counts the named people of documents (`expected`)."""

    def __init__(self) -> None:
        self._recogniser = Recogniser.shipped()

    def count(
        self, found: Documents, piece: Searched, columns: Columns | None = None
    ) -> dict[str, Any]:
        """Count named people: the sums by `KEYS`."""
        out = dict.fromkeys(KEYS, 0)
        for text in piece.texts:
            own = expected(text, self._recogniser)
            if own is not None:
                counts, products = own
                row = (1, *counts.tolist(), *products[np.triu_indices(2)].tolist())
                out = summed(out, dict(zip(KEYS, row, strict=True)))
        return out


class NamedPeople(Measure[Named]):
    """Named people."""

    name = "names"
    title = "named people"
    record = Named
    settings = NameSettings
    limits = ("female", "warn", "block", "min_people")
    about_limits = "DR of named people from which a pane gets a warning, or is blocked."

    def counter(self, config: Config, lists: Sequence[WordList]) -> Counter | None:
        """What counts named people; None if the configuration does not name the measure."""
        return None if self.own_settings(config) is None else NameCounter()

    def judge(
        self,
        config: Config,
        lists: Sequence[WordList],
        counted: Mapping[str, Any],
        totals: MeasureTotals | None,
    ) -> Named | None:
        """Score the next pane; without thresholds it is always open."""
        own: NameSettings | None = self.own_settings(config)
        if own is None:
            return None
        sums = dict.fromkeys(KEYS, 0) | dict(counted)
        whole = sums if totals is None else summed(sums, totals.sums)
        both = rolled(sums, totals), whole
        scores = [_score(each, own, config.gate.confidence) for each in both]
        before = totals.last.verdict.state if totals is not None else None
        warn, block = (NEVER if each is None else each for each in (own.warn, own.block))
        limits = Thresholds(min(warn, block), block, own.min_people, config.gate.hysteresis)
        verdict = decide(scores[0], limits, before, "rolling DR of named people", "person")
        if own.warn is None and own.block is None:
            verdict = Verdict(state="open", reason="named people are measured, not judged")
        return Named(sums=sums, rolling=scores[0], cumulative=scores[1], verdict=verdict)

    def sums(self, record: Named) -> dict[str, Any]:
        """The sums of the pane."""
        return record.sums

    def without_sums(self, record: Named) -> Named:
        """A record without the pane's sums."""
        return record.model_copy(update={"sums": {}})

    def section(self, totals: MeasureTotals, documents: int, aside: int) -> dict[str, Any]:
        """Figures of all panes, the last verdict, and the panes in each state."""
        people = sum(totals.sums[group] for group in GROUPS) / UNIT
        last = self._own(totals)
        return {
            "people": round(people),
            "women": round(totals.sums["female"] / UNIT / people, 4) if people else None,
            **last.cumulative.model_dump(exclude={"mentions"}),
            "verdict": last.verdict.model_dump(),
            "panes": totals.states,
        }

    def lines(self, section: Mapping[str, Any]) -> list[str]:
        """The people, the share of women, and DR with its interval."""
        if section["women"] is None:
            return ["named people: no first name"]
        interval = "no interval"
        if section["low"] is not None:
            interval = f"{section['low']:.3f} to {section['high']:.3f}"
        return [
            f"named people: about {section['people']:,}, {section['women']:.1%} women by their"
            f" first names; DR {section['dr']:.3f} ({interval}): {section['verdict']['state']}"
        ]

    def families(self, totals: MeasureTotals | None) -> Iterator[Family]:
        """Yield the people by group, and DR of the rolling panes."""
        people = {} if totals is None else {(own,): totals.sums[own] / UNIT for own in GROUPS}
        about = "People that first names tell of, as expected counts."
        yield Family("names_people", about, ["group"], people, True)
        last = None if totals is None else self._own(totals).rolling
        scores = {(key,): getattr(last, key, None) for key in ("dr", "low", "high")}
        yield Family("names_dr", "DR of named people, rolling panes.", ["figure"], scores)

    def thresholds(self, config: Config) -> dict[str, float | None]:
        """Thresholds of DR."""
        own = self.own_settings(config)
        return {} if own is None else {"warn": own.warn, "block": own.block}


def _score(sums: Mapping[str, int], own: NameSettings, confidence: float) -> Score:
    """DR of sums, with the recogniser's own error."""
    cross = sums["female_male"]
    products = [[sums["female_female"], cross], [cross, sums["male_male"]]]
    whole = Sums(
        documents=sums["documents"],
        counts=[sums[group] / UNIT for group in GROUPS],
        products=[[each / UNIT**2 for each in row] for row in products],
    )
    whole = doubted(whole, Recogniser.shipped().doubt)
    return score(whole, [own.female, 1 - own.female], confidence)
