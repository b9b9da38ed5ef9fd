"""Judges a pane's coverage: which meetings of attributes are too rare."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any

from evenflow.schemas.config import Config
from evenflow.schemas.config.coverage import CoverageSettings
from evenflow.schemas.documents import summed
from evenflow.schemas.ledger import CoverageEntry, State, Verdict
from evenflow.schemas.threshold import Threshold
from evenflow.transforms.measures.coverage.gaps import joined, summary, unsure, words
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.named import Meetings
from evenflow.transforms.measures.coverage.table import Table
from evenflow.wordlists.loader import WordList

MOST_GAPS = 10  # gaps that a pane's entry lists


def judge_coverage(
    config: Config,
    lists: Sequence[WordList],
    counted: Mapping[str, Any],
    recent: Sequence[Mapping[str, Any]],
) -> CoverageEntry | None:
    """Judge the coverage of the next pane together with the last accepted ones.

    Args:
        config: The run's configuration.
        lists: Word lists of the measured attributes.
        counted: The pane's records (documents.Figures.coverage).
        recent: Those of the last accepted panes.

    Returns:
        The ledger's record; None if coverage is not looked at.
    """
    settings = config.coverage
    if settings.tau is None:
        return None
    rolling = reduce(summed, map(dict[str, Any], recent), dict(counted))
    records = Meetings(settings, lists).table(rolling)
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
