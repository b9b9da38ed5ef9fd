"""How panes are judged by coverage; loaded where it is on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenflow.schemas.config import Config
from evenflow.schemas.config.coverage import CoverageSettings
from evenflow.schemas.ledger import State, Verdict
from evenflow.schemas.threshold import Threshold
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.searched import Searched
from evenflow.transforms.measures.coverage import lookup as lookup
from evenflow.transforms.measures.coverage.gaps import joined, summary, unsure, words
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.named import Intersections
from evenflow.transforms.measures.coverage.records import CoverageEntry
from evenflow.transforms.measures.coverage.table import Table
from evenflow.transforms.measures.measure import Columns, Counter, MeasureTotals, rolled
from evenflow.wordlists.loader import WordList

MOST_GAPS = 10  # gaps that a pane's entry lists


class IntersectionCounter(Counter):
    """Counts records (see `Intersections`)."""

    def __init__(self, intersections: Intersections):
        self._intersections = intersections
        self.fields, self.needs_sentences = intersections.fields, intersections.needs_sentences

    def count(
        self, found: Documents, piece: Searched, columns: Columns | None = None
    ) -> dict[str, Any]:
        """Count the records of documents (see `Intersections.count`)."""
        return self._intersections.count(
            found.fields, piece.first, piece.texts, piece.begins, piece.every, piece.starts
        )


def counter(config: Config, lists: Sequence[WordList]) -> IntersectionCounter:
    """What counts records under a configuration."""
    return IntersectionCounter(Intersections(config.coverage, lists))


def judge(
    config: Config,
    lists: Sequence[WordList],
    counted: Mapping[str, Any],
    totals: MeasureTotals | None,
) -> CoverageEntry:
    """Judge the next pane together with the last accepted ones (see `Measure.judge`)."""
    settings = config.coverage
    records = Intersections(settings, lists).table(rolled(counted, totals))
    confidence, threshold = config.gate.confidence, Threshold.parse(str(settings.tau))

    def described(records: Table) -> dict[str, Any]:
        coverage = Coverage(records, threshold, confidence)
        return summary(coverage, confidence, settings.depth, MOST_GAPS)

    result = described(records)
    if settings.by is not None:
        parts = records.split(settings.by)
        found = {name: described(each) for name, each in parts.items()}
        result = joined(result, found, settings.by, threshold, MOST_GAPS)
    return CoverageEntry(
        records=counted.get("records", {}),
        squares=counted.get("squares", 0),
        clusters=counted.get("clusters", {}),
        rolling=result,
        verdict=_decide(result, settings),
    )


def _decide(result: Mapping[str, Any], settings: CoverageSettings) -> Verdict:
    """Decide from the largest gap."""
    largest: float | None = result["largest"]
    if largest is None:
        return Verdict(state="not_judged", reason="no record names an attribute")
    state: State = "open"
    if settings.block is not None and largest >= settings.block:
        state = "block"
    elif largest > 0 and largest >= settings.warn:
        state = "warn"
    if result["state"] == "cannot tell":
        return Verdict(state="not_judged", reason=f"cannot tell: {unsure(result)}")
    if not result["gaps"]:
        return Verdict(
            state=state, reason=f"no intersection of attributes is below {result['tau']}"
        )
    rarest = words(result["gaps"][0]["pattern"])
    return Verdict(
        state=state,
        reason=(
            f"{result['found']} intersections are below {result['tau']}; {rarest} lacks at least"
            f" {largest:.1%} of it"
        ),
    )
