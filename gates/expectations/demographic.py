"""The expectation on Demographic Representation: DR of mention columns, judged by its interval.

Importing this module registers the expectation with Great Expectations, also for suites from a
file.
"""

from __future__ import annotations

from typing import Any, ClassVar, Union

import numpy as np
from pydantic.v1 import (
    Field,
    root_validator,  # pyright: ignore[reportUnknownVariableType]
    validator,  # pyright: ignore[reportUnknownVariableType]
)

from evenflow.gates.expectations.base import FrameMetric, StatedExpectation, require_columns
from evenflow.transforms.measures.representation import dr

METRIC = "table.demographic_representation"
CONFIDENCE = 0.95
# People write shares such as 0.333, so their sum may miss 1 by this much.
SHARES_TOLERANCE = 1e-3


class DemographicRepresentation(FrameMetric):
    """DR of mention columns with its interval, from the documents' counts.

    transforms.measures.representation has the method.
    """

    metric_name = METRIC
    value_keys = ("columns", "target", "confidence", "weight")

    @classmethod
    def value(cls, frame: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Compute the score; the arguments are those of the expectation."""
        columns: list[str] = arguments["columns"]
        require_columns(frame, columns)
        target: list[float] | None = arguments.get("target")
        if target is not None:
            target = [share / sum(target) for share in target]
        counts = frame[columns].to_numpy(np.int64)
        weight = arguments.get("weight")
        sums = dr.sums(counts, None if weight is None else frame[weight].to_numpy())
        return dr.score(sums, target, arguments.get("confidence") or CONFIDENCE).model_dump()


class ExpectDemographicRepresentationToBeWithin(StatedExpectation):
    """Expect the Demographic Representation score (DR) of an attribute to be within a limit.

    DR = 1/2 sum_i |p_i - q_i| for the shares p of the mentions and their target q (main paper,
    section 4.2.2): 0 is even. The expectation fails if even the lower bound of DR's interval is
    above max_value. Without a score (fewer mentions than min_mentions, or fewer than two documents
    with one) nothing is judged and it holds.

    `max_value`: Largest DR allowed, 0 to 1.
    """

    columns: list[str] = Field(min_items=2, unique_items=True)
    max_value: float = Field(ge=0, le=1)
    attribute: Union[str, None] = None  # noqa: UP007 (read at run time, by pydantic 1)
    target: Union[list[float], None] = None  # noqa: UP007
    confidence: float = Field(default=CONFIDENCE, gt=0.5, lt=1)
    min_mentions: int = Field(default=0, ge=0)
    weight: Union[str, None] = None  # noqa: UP007

    metric_dependencies: ClassVar[tuple[str, ...]] = (METRIC,)
    success_keys: ClassVar[tuple[str, ...]] = (
        "columns",
        "max_value",
        "attribute",
        "target",
        "confidence",
        "min_mentions",
        "weight",
    )
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    @validator("target")  # pyright: ignore[reportUntypedFunctionDecorator]
    @classmethod
    def _add_up(cls, target: list[float] | None) -> list[float] | None:
        """Refuse a target that is not shares."""
        if target is not None and (
            not target or min(target) < 0 or abs(sum(target) - 1) > SHARES_TOLERANCE
        ):
            raise ValueError("shares from 0 on that add up to 1 were expected")
        return target

    @root_validator(skip_on_failure=True)  # pyright: ignore[reportUntypedFunctionDecorator]
    @classmethod
    def _share_each(cls, values: dict[str, Any]) -> dict[str, Any]:
        """Refuse a target with another number of shares than columns."""
        columns, target = values["columns"], values["target"]
        if target is not None and len(target) != len(columns):
            raise ValueError(
                f"target: {len(columns)} shares were expected, one for each column, not"
                f" {len(target)}"
            )
        return values

    def judge(self, value: Any) -> dict[str, Any]:
        """It holds if the lower bound is within the limit, or if there is too little to judge."""
        judged = value["low"] is not None and value["mentions"] >= self.min_mentions
        return {
            "success": not judged or value["low"] <= self.max_value,
            "result": {"observed_value": value["dr"], "details": {**value, "judged": judged}},
        }

    @classmethod
    def describe_result(cls, result: dict[str, Any]) -> str:
        """The score with its interval."""
        score = result.get("details")
        if not score:
            return ""
        if score["dr"] is None:
            return "nothing mentioned: not judged"
        seen = f"mentions: {score['mentions']}, documents with any: {score['documents']}"
        if score["low"] is None:
            return f"DR {score['dr']:.3f}, {seen}: no interval, not judged"
        interval = f"DR {score['dr']:.3f}, from {score['low']:.3f} to {score['high']:.3f}, {seen}"
        return interval if score["judged"] else f"{interval}: too few, not judged"
