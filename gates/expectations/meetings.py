"""The expectation on coverage: no meeting of fields' values is too rare.

Importing this module registers the expectation with Great Expectations, also for suites from a
file.
"""

from __future__ import annotations

from typing import Any, ClassVar, Union

import pyarrow as pa
from pydantic.v1 import (
    Field,
    validator,  # pyright: ignore[reportUnknownVariableType]
)

from evenflow.gates.expectations.base import FrameMetric, StatedExpectation, require_columns
from evenflow.schemas.threshold import Threshold
from evenflow.transforms.measures.coverage.gaps import summary, unsure, words
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.table import Table

METRIC = "table.coverage_gaps"
CONFIDENCE = 0.95
LISTED = 10  # gaps of a result
SENTENCE = (
    "No meeting of values of $columns must lack more than $max_value of $tau. Each document is a"
    " record. Of a share the upper bound of its 95 % interval is compared."
)


class CoverageGaps(FrameMetric):
    """The gaps of columns (transforms.measures.coverage.gaps)."""

    metric_name = METRIC
    value_keys = ("columns", "tau", "depth")

    @classmethod
    def value(cls, frame: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Find the gaps; the arguments are those of the expectation.

        Args:
            frame: A row for each document.
            arguments: Values of value_keys.

        Returns:
            What `gaps.summary` returns.

        Raises:
            ValueError: A column is missing.
        """
        columns: list[str] = arguments["columns"]
        require_columns(frame, columns)
        texts = {name: frame[name].dropna().map(str).reindex(frame.index) for name in columns}
        table = Table.of_columns(
            {name: pa.array(each, pa.string(), from_pandas=True) for name, each in texts.items()}
        )
        coverage = Coverage(table, Threshold.parse(str(arguments["tau"])), CONFIDENCE)
        return summary(coverage, CONFIDENCE, arguments.get("depth"), LISTED)


class ExpectCoverageGapToBeAtMost(StatedExpectation):
    """Expect that no meeting of columns' values lacks more than a part of a threshold.

    A gap is 1 - coverage / τ: 0 at τ, 1 without any document (IntersectionRE, section 2.1). Without
    documents nothing is judged, and it holds.

    Attributes:
        columns: The columns.
        tau: Least coverage, a share ("0.01", "1%") or a number of documents ("30").
        max_value: Largest gap allowed, 0 to 1.
        depth: Most columns that meet; None for all.
    """

    columns: list[str] = Field(min_items=1, unique_items=True)
    tau: str
    max_value: float = Field(ge=0, le=1)
    depth: Union[int, None] = Field(default=None, ge=1)  # noqa: UP007 (read at run time)

    metric_dependencies: ClassVar[tuple[str, ...]] = (METRIC,)
    success_keys: ClassVar[tuple[str, ...]] = ("columns", "tau", "max_value", "depth")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    @validator("tau")  # pyright: ignore[reportUntypedFunctionDecorator]
    @classmethod
    def _is_threshold(cls, tau: str) -> str:
        """Refuse a threshold that cannot be read."""
        Threshold.parse(tau)
        return tau

    def judge(self, value: Any) -> dict[str, Any]:
        """It holds if the largest gap is within the limit, or if there is no document."""
        largest = value["largest"]
        return {
            "success": largest is None or largest <= self.max_value,
            "result": {"observed_value": largest, "details": value},
        }

    @classmethod
    def statement(cls, kwargs: dict[str, Any]) -> tuple[str, dict[str, str]]:
        """The limit and what a record is."""
        return SENTENCE, {
            "columns": ", ".join(kwargs["columns"]),
            "max_value": f"{kwargs['max_value']:.0%}",
            "tau": str(kwargs["tau"]),
        }

    @classmethod
    def describe_result(cls, result: dict[str, Any]) -> str:
        """The number of gaps and the largest."""
        found = result.get("details")
        if not found:
            return ""
        if found.get("state") == "cannot tell":
            return f"cannot tell: {unsure(found)}" if found["unsure"] else "no document"
        if not found["gaps"]:
            return f"no gap in {found['records']:,} documents"
        gap = found["gaps"][0]
        return f"{found['found']} gaps, the largest: {words(gap['pattern'])}, {gap['records']:,}"
