"""Synthetic documents as a measure: their share, and DR and coverage without them.

DR without them is that of label mentions, without weights. Coverage is judged where it is on.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt
from pydantic import Field

from evenflow.schemas.config import Config
from evenflow.schemas.ledger import BAD, Entry, Measured, Score, State, Sums, Verdict
from evenflow.transforms.io.fields import by_name, values_of
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.searched import Searched
from evenflow.transforms.measures.coverage.measure import CoverageMeasure
from evenflow.transforms.measures.coverage.records import CoverageEntry
from evenflow.transforms.measures.measure import (
    Columns,
    Counter,
    Family,
    Measure,
    MeasureTotals,
    rolled,
)
from evenflow.transforms.measures.representation.dr import score, sums
from evenflow.transforms.measures.verdict import Thresholds, decide, worst
from evenflow.wordlists.loader import WordList

COVERAGE = CoverageMeasure()
DIGITS = 6


class WithoutThem(Entry):
    """An attribute without synthetic documents.

    Attributes:
        rolling: DR of the pane together with the last accepted ones.
        verdict: The verdict that the pane would have.
    """

    rolling: Score
    verdict: Verdict


class Synthetic(Measured):
    """Synthetic documents of a pane.

    Attributes:
        counted: Numbers of `documents` and of `synthetic` ones; `mentions` and `coverage` of the
            others. They add up over panes.
        share: Share of synthetic documents in the rolling panes; None without a document.
        attributes: Each attribute without them.
        coverage: Coverage of the rolling panes without them; None if it is off.
    """

    counted: dict[str, Any]
    share: float | None
    attributes: dict[str, WithoutThem]
    coverage: CoverageEntry | None = Field(default=None)


class SyntheticCounter(Counter):
    """Counts synthetic documents, and the mentions and records of the others.

    Args:
        field: The field that marks a document.
        lists: The word lists of the measured attributes.
        coverage: Counts records; None if coverage is off.
    """

    def __init__(self, field: str, lists: Sequence[WordList], coverage: Counter | None):
        self._field, self._lists, self._coverage = field, lists, coverage
        self.fields = (field, *(coverage.fields if coverage else ()))
        self.needs_sentences = coverage is not None and coverage.needs_sentences

    def count(
        self, found: Documents, piece: Searched, columns: Columns | None = None
    ) -> dict[str, Any]:
        """Count documents that were searched together (see `Counter.count`)."""
        size = len(piece.texts)
        fields = {of: values.slice(piece.first, size) for of, values in found.fields.items()}
        cell = by_name(fields.items()).get(self._field)
        marked = np.zeros(size, bool) if cell is None else _marks(values_of(*cell))
        others = piece.chosen(~marked)
        out: dict[str, Any] = {"documents": size, "synthetic": int(marked.sum()), "mentions": {}}
        for number, words in enumerate(self._lists):
            own = sums(others.counts(number, len(words.groups)))
            of = list(map(str, range(len(words.groups))))
            out["mentions"][words.attribute] = {
                "documents": own.documents,
                "counts": dict(zip(of, own.counts, strict=True)),
                "products": {
                    group: dict(zip(of, row, strict=True))
                    for group, row in zip(of, own.products, strict=True)
                },
            }
        if self._coverage is not None:
            fields = {of: values.filter(~marked) for of, values in fields.items()}
            out["coverage"] = self._coverage.count(replace(found, fields=fields), others)
        return out


def _marks(values: Sequence[Any]) -> npt.NDArray[np.bool_]:
    """Which values mark a document, (D,); the text “false” does not."""
    return np.fromiter((bool(each) and each != "false" for each in values), bool, len(values))


class SyntheticMeasure(Measure[Synthetic]):
    """Synthetic documents."""

    name = "synthetic"
    title = "synthetic documents"
    record = Synthetic
    off: ClassVar[Mapping[str, Any]] = {"field": None}
    about_limits = "Share of synthetic documents above which a pane gets a warning, or is blocked."
    template = "synthetic.html.j2"
    null_when_off = False

    def counter(self, config: Config, lists: Sequence[WordList]) -> Counter | None:
        """What counts them; None if no field marks them."""
        field = config.synthetic.field
        if field is None:
            return None
        return SyntheticCounter(field, lists, COVERAGE.counter(config, lists))

    def judge(
        self,
        config: Config,
        lists: Sequence[WordList],
        counted: Mapping[str, Any],
        totals: MeasureTotals | None,
    ) -> Synthetic | None:
        """Judge the share of the next pane together with the last accepted ones.

        What would be uneven without them is a warning: they may not hide it.
        """
        if config.synthetic.field is None:
            return None
        rolling = rolled(counted, totals)
        before = self._own(totals).attributes if totals is not None else {}
        attributes = {
            words.attribute: _without(
                config, words, rolling.get("mentions", {}), before.get(words.attribute)
            )
            for words in lists
        }
        coverage, synthetic = None, rolling.get("synthetic", 0)
        if "coverage" in rolling:
            coverage = COVERAGE.judge(config, lists, rolling["coverage"], None)
        verdicts = {name: each.verdict for name, each in attributes.items()}
        verdicts |= {} if coverage is None else {COVERAGE.title: coverage.verdict}
        documents = rolling.get("documents", 0)
        return Synthetic(
            counted=dict(counted),
            share=round(synthetic / documents, DIGITS) if documents else None,
            attributes=attributes,
            coverage=None if coverage is None else COVERAGE.without_sums(coverage),
            verdict=_verdict(config, synthetic, documents, verdicts),
        )

    def sums(self, record: Synthetic) -> dict[str, Any]:
        """What was counted of the pane."""
        return record.counted

    def without_sums(self, record: Synthetic) -> Synthetic:
        """A record without what was counted."""
        return record.model_copy(update={"counted": {}})

    def section(self, totals: MeasureTotals, documents: int, aside: int) -> dict[str, Any]:
        """The last record, with the numbers of all panes."""
        numbers = {key: totals.sums.get(key, 0) for key in ("documents", "synthetic")}
        return super().section(totals, documents, aside) | numbers

    def lines(self, section: Mapping[str, Any]) -> list[str]:
        """How many there are, and what is uneven without them."""
        return [
            f"synthetic: {section['synthetic']:,} of {section['documents']:,} documents:"
            f" {section['verdict']['state']}, {section['verdict']['reason']}"
        ]

    def families(self, totals: MeasureTotals | None) -> Iterator[Family]:
        """Yield the number of synthetic documents, their rolling share, and DR without them."""
        last = None if totals is None else self._own(totals)
        number = totals.sums.get("synthetic", 0) if totals is not None else None
        yield Family("synthetic_documents", "Synthetic documents.", (), {(): number}, True)
        about = "Share of synthetic documents in the rolling panes."
        yield Family("synthetic_share", about, (), {(): last.share if last else None})
        own = {(name,): each.rolling.dr for name, each in (last.attributes if last else {}).items()}
        about = "Rolling DR without synthetic documents."
        yield Family("dr_without_synthetic", about, ["attribute"], own)

    def thresholds(self, config: Config) -> dict[str, float | None]:
        """The limits of the share."""
        own = config.synthetic
        return {} if own.field is None else {"warn": own.warn, "block": own.block}


def _without(
    config: Config, words: WordList, mentions: Mapping[str, Any], before: WithoutThem | None
) -> WithoutThem:
    """The score and verdict of an attribute, from the rolling mentions without them."""
    counted = mentions.get(words.attribute)
    own = Sums.empty(len(words.groups))
    if counted:
        products = [list(row.values()) for row in counted["products"].values()]
        counts = list(counted["counts"].values())
        own = Sums(documents=counted["documents"], counts=counts, products=products)
    rolling = score(own, config.target(words), config.gate.confidence)
    limits = Thresholds(
        *config.thresholds(words.attribute), config.gate.min_mentions, config.gate.hysteresis
    )
    previous = None if before is None else before.verdict.state
    return WithoutThem(rolling=rolling, verdict=decide(rolling, limits, previous))


def _verdict(
    config: Config, synthetic: int, documents: int, without: Mapping[str, Verdict]
) -> Verdict:
    """The verdict on the share, and on what is uneven without them."""
    own = config.synthetic
    share = synthetic / documents if documents else 0.0
    reason = f"{share:.1%} of the rolling panes' {documents} documents are synthetic"
    found: list[State] = ["open"]
    levels: tuple[tuple[State, float | None], ...] = (("warn", own.warn), ("block", own.block))
    for level, limit in levels:
        if limit is not None and share > limit:
            found.append(level)
            reason += f", {level} begins above {limit:g}"
    worse = {name: each.state for name, each in without.items() if each.state in BAD}
    if synthetic and worse:
        found.append("warn")
        reason += "; without them " + ", ".join(f"{name} is at {at}" for name, at in worse.items())
    return Verdict(state=worst(found), reason=reason)
