"""The suite that every pane must meet.

A check that fails is critical and quarantines the pane, except for DR. The gate judges DR from the
rolling score. A pane whose own DR is above its limit is therefore only recorded, as a warning, and
shown in the data docs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenflow.gates.expectations.frame import SAMPLE_DOCUMENTS, Names


@dataclass(frozen=True)
class DrLimit:
    """A limit of an attribute's DR in a single pane.

    Attributes:
        max_value: Largest DR allowed, None for any; compared with the interval's lower bound.
        target: Share of each group, (M,); None for equal shares.
        min_mentions: Least number of mentions that is judged.
        weight: Column of the documents' weights; None without weights.
    """

    max_value: float | None
    target: Sequence[float] | None = None
    min_mentions: int = 0
    confidence: float = 0.95
    weight: str | None = None


def expectations(columns: Names, limits: Mapping[str, DrLimit]) -> list[Any]:
    """The suite's expectations."""
    from great_expectations.expectations import core

    from evenflow.gates.expectations.columns import (
        ExpectColumnsToHoldTextsAndCounts,
        ExpectColumnSumsToEqual,
    )
    from evenflow.gates.expectations.demographic import ExpectDemographicRepresentationToBeWithin

    expect: Any = core  # its stubs export no expectation
    return [
        ExpectColumnsToHoldTextsAndCounts(
            texts=[columns.identity, columns.text], counts=columns.counts
        ),
        expect.ExpectTableRowCountToEqual(value={"$PARAMETER": "documents"}),
        ExpectColumnSumsToEqual(sums={"$PARAMETER": "sums"}),
        expect.ExpectColumnValuesToNotBeNull(
            column=columns.identity, description="Every document has an id."
        ),
        expect.ExpectColumnValuesToBeUnique(
            column=columns.identity, description="No two documents have the same id."
        ),
        expect.ExpectColumnValuesToBeBetween(
            column=columns.bytes, min_value=1, description="No document is empty."
        ),
        expect.ExpectColumnValuesToBeNull(
            column=columns.recount,
            description=(
                f"Counting the labels of {SAMPLE_DOCUMENTS} documents once more, one by one, gives"
                " the same mentions."
            ),
        ),
        *(
            ExpectDemographicRepresentationToBeWithin(
                attribute=name,
                columns=columns.mentions[name],
                max_value=limit.max_value,
                target=None if limit.target is None else list(limit.target),
                confidence=limit.confidence,
                min_mentions=limit.min_mentions,
                weight=limit.weight,
                severity="warning",  # pyright: ignore[reportArgumentType] (pydantic converts it)
            )
            for name, limit in limits.items()
            if limit.max_value is not None
        ),
    ]
