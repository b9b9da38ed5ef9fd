"""Coverage as a measure: which meetings of attributes are too rare in a pane."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from evenflow.schemas.alert_rule import MINUTE, Alert
from evenflow.schemas.config import Config
from evenflow.schemas.config.coverage import CoverageSettings
from evenflow.schemas.ledger import State, Verdict
from evenflow.schemas.threshold import Threshold
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.searched import Searched
from evenflow.transforms.measures.coverage import lookup
from evenflow.transforms.measures.coverage.gaps import joined, summary, unsure, words
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.named import Meetings
from evenflow.transforms.measures.coverage.records import CoverageEntry
from evenflow.transforms.measures.coverage.table import Table
from evenflow.transforms.measures.measure import (
    Columns,
    Counter,
    Family,
    Measure,
    MeasureTotals,
    rolled,
)
from evenflow.wordlists.loader import WordList

MOST_GAPS = 10  # gaps that a pane's entry lists
SUMS = {"records", "squares", "clusters"}  # of a record, what adds up
GAUGES = (
    ("found", "gaps", "Meetings of attributes that are too rare, in the rolling panes."),
    ("largest", "largest_gap", "Largest gap, 1 - coverage / tau, by which the gate judges."),
    (
        "unsure",
        "unsure",
        "Meetings that may be too rare: the share is below tau, its interval's upper bound is not.",
    ),
    ("least_tau", "least_tau", "Smallest tau at which the rolling panes can show a gap."),
)


class MeetingCounter(Counter):
    """Counts records (see `Meetings`)."""

    def __init__(self, meetings: Meetings):
        self._meetings = meetings
        self.fields, self.needs_sentences = meetings.fields, meetings.needs_sentences

    def count(
        self, found: Documents, piece: Searched, columns: Columns | None = None
    ) -> dict[str, Any]:
        """Count the records of documents (see `Meetings.count`)."""
        return self._meetings.count(
            found.fields, piece.first, piece.texts, piece.begins, piece.every, piece.starts
        )


class CoverageMeasure(Measure[CoverageEntry]):
    """Coverage."""

    name = "coverage"
    title = "coverage"
    record = CoverageEntry
    off: ClassVar[Mapping[str, Any]] = {"tau": None}
    about_limits = "Largest gap from which a pane gets a warning, or is blocked."
    alerts = (
        Alert(
            "CoverageGap",
            "evenflow_coverage_largest_gap > 0 and evenflow_coverage_largest_gap >="
            ' ignoring (level) evenflow_coverage_threshold{level="warn"}',
            10 * MINUTE,
            "warning",
            "{{ $labels.gate }}: a meeting of attributes is too rare",
            "It lacks at least {{ $value | humanizePercentage }} of what is asked for.",
        ),
    )
    in_status = False
    in_panes = False
    template = "coverage_of_run.html.j2"

    def counter(self, config: Config, lists: Sequence[WordList]) -> Counter | None:
        """What counts records; None if coverage is not looked at."""
        settings = config.coverage
        return None if settings.tau is None else MeetingCounter(Meetings(settings, lists))

    def judge(
        self,
        config: Config,
        lists: Sequence[WordList],
        counted: Mapping[str, Any],
        totals: MeasureTotals | None,
    ) -> CoverageEntry | None:
        """Judge the coverage of the next pane together with the last accepted ones."""
        settings = config.coverage
        if settings.tau is None:
            return None
        records = Meetings(settings, lists).table(rolled(counted, totals))
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

    def sums(self, record: CoverageEntry) -> dict[str, Any]:
        """The records of the pane."""
        return record.model_dump(include=SUMS, exclude_defaults=True)

    def without_sums(self, record: CoverageEntry) -> CoverageEntry:
        """A record without the pane's records."""
        return record.model_copy(update={"records": {}, "clusters": {}})

    def added(
        self, before: MeasureTotals | None, record: CoverageEntry, accepted: bool, most: int
    ) -> MeasureTotals:
        """Add the next pane; checkpoints have no states of coverage."""
        return super().added(before, record, accepted, most).model_copy(update={"states": {}})

    def store(self, data: dict[str, Any], totals: dict[str, Any] | None) -> None:
        """Put its sums among a checkpoint's keys."""
        last, sums, recent = None, {}, []
        if totals is not None:
            last, sums, recent = totals["last"], totals["sums"], totals["recent"]
        data |= {"coverage": sums, "recent_coverage": recent, "last_coverage": last}

    def restored(self, data: dict[str, Any]) -> MeasureTotals | None:
        """The sums from a checkpoint, whose keys are taken out."""
        last, sums = data.pop("last_coverage", None), data.pop("coverage", {})
        recent = data.pop("recent_coverage", [])
        return None if last is None else self.totals(last, sums, recent=recent)

    def section(self, totals: MeasureTotals, documents: int, aside: int) -> dict[str, Any]:
        """The last pane's record without its records."""
        return totals.last.model_dump()

    def families(self, totals: MeasureTotals | None) -> Iterator[Family]:
        """Yield the metrics of coverage."""
        rolling = self._own(totals).rolling if totals is not None else {}
        for key, name, about in GAUGES:
            yield Family(f"coverage_{name}", about, (), {(): rolling.get(key)})

    def thresholds(self, config: Config) -> dict[str, float | None]:
        """Thresholds of the largest gap."""
        own = config.coverage
        return {} if own.tau is None else {"warn": own.warn, "block": own.block}

    def look(self, config: Config, on_note: Callable[[str], None]) -> None:
        """Look through the extract of entities (see `lookup.look`)."""
        lookup.look(config.coverage, on_note)

    def digests(self, config: Config) -> dict[str, Any]:
        """The digest of the extract of entities."""
        return lookup.digests(config.coverage)


def _decide(result: Mapping[str, Any], settings: CoverageSettings) -> Verdict:
    """Decide from the largest gap."""
    largest: float | None = result["largest"]
    if largest is None:
        return Verdict(state="too few", reason="no record names an attribute")
    state: State = "open"
    if settings.block is not None and largest >= settings.block:
        state = "block"
    elif largest > 0 and largest >= settings.warn:
        state = "warn"
    if result["state"] == "cannot tell":
        return Verdict(state="too few", reason=f"cannot tell: {unsure(result)}")
    if not result["gaps"]:
        return Verdict(state=state, reason=f"no meeting of attributes is below {result['tau']}")
    rarest = words(result["gaps"][0]["pattern"])
    return Verdict(
        state=state,
        reason=(
            f"{result['found']} meetings are below {result['tau']}; {rarest} lacks at least"
            f" {largest:.1%} of it"
        ),
    )
