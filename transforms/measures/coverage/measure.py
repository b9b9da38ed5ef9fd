"""Coverage as a measure: which intersections of attributes are too rare in a pane."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar

from evenflow.schemas.config import Config
from evenflow.transforms.measures.coverage.records import CoverageEntry
from evenflow.transforms.measures.measure import Family, MeasureApart, MeasureTotals

SUMS = {"records", "squares", "clusters"}  # of a record, what adds up
GAUGES = (
    ("found", "gaps", "Rare intersections of attributes, in the rolling panes."),
    ("largest", "largest_gap", "Largest gap, 1 - coverage / tau, by which the gate judges."),
    (
        "unsure",
        "unsure",
        "Perhaps too rare: the share is below tau, its interval's upper bound is not.",
    ),
    ("least_tau", "least_tau", "Smallest tau at which the rolling panes can show a gap."),
)


class CoverageMeasure(MeasureApart[CoverageEntry]):
    """Coverage."""

    name = "coverage"
    title = "coverage"
    record = CoverageEntry
    off: ClassVar[Mapping[str, Any]] = {"tau": None}
    about_limits = "Largest gap from which a pane gets a warning, or is blocked."
    in_panes = False
    template = "coverage_of_run.html.j2"
    parts = "evenflow.transforms.measures.coverage.judging"

    def sums(self, record: CoverageEntry) -> dict[str, Any]:
        """The records of the pane."""
        return record.model_dump(include=SUMS, exclude_defaults=True)

    def without_sums(self, record: CoverageEntry) -> CoverageEntry:
        """A record without the pane's records."""
        return record.model_copy(update={"records": {}, "clusters": {}})

    def section(self, totals: MeasureTotals, documents: int, aside: int) -> dict[str, Any]:
        """The last pane's record without its records."""
        return totals.last.model_dump()

    def families(self, totals: MeasureTotals | None) -> Iterator[Family]:
        """Yield the metrics of coverage."""
        rolling = self._own(totals).rolling if totals is not None else {}
        for key, name, about in GAUGES:
            yield Family(f"coverage_{name}", about, (), {(): rolling.get(key)})

    def look(self, config: Config, on_note: Callable[[str], None]) -> None:
        """Look through the extract of entities (see `lookup.look`)."""
        if config.coverage.entities is not None:
            self.judging.lookup.look(config.coverage, on_note)

    def digests(self, config: Config) -> dict[str, Any]:
        """The digest of the extract of entities."""
        settings = config.coverage
        return {} if settings.entities is None else self.judging.lookup.digests(settings)
