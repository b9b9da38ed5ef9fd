"""The expectation on the bias score: the share of sentences above a score, by its interval.

Importing this module registers the expectation with Great Expectations, also for suites from a
file.
"""

from __future__ import annotations

from itertools import accumulate
from typing import Any, ClassVar, Union

import numpy as np
from pydantic.v1 import Field

from evenflow.gates.expectations.base import FrameMetric, StatedExpectation, require_columns

METRIC = "table.bias_score"
CONFIDENCE = 0.95
BETWEEN = "\n\n"  # a blank line ends a sentence
SENTENCE = (
    "The share of sentences in $column whose bias score (attribute $attribute) is above $threshold"
    " must not be above $max_value. The lower bound of its $percent % interval is judged, so that"
    " chance alone fails no pane."
)


class BiasScoreShare(FrameMetric):
    """The bias score of the sentences of a column, with intervals over rows."""

    metric_name = METRIC
    value_keys = ("column", "attribute", "vectors", "threshold", "confidence")

    @classmethod
    def value(cls, frame: Any, arguments: dict[str, Any]) -> dict[str, Any]:
        """Score the sentences; the arguments are those of the expectation.

        Args:
            frame: A row for each document.
            arguments: Values of value_keys.

        Returns:
            The figures, as ledger.BiasSummary has them.

        Raises:
            ValueError: The column is missing, or the vectors cannot be used.
        """
        from evenflow.schemas.config import load
        from evenflow.transforms.measures.bias_score import signal, summary
        from evenflow.transforms.measures.bias_score.records import BiasSums
        from evenflow.transforms.text import sentences

        column, attribute = arguments["column"], arguments.get("attribute") or "gender"
        require_columns(frame, [column])
        settings = {
            "bias_score.mode": "measure",
            "bias_score.attribute": attribute,
            "bias_score.vectors": arguments.get("vectors"),
        }
        own = signal.BiasSignal(load(None, settings, only=[attribute]))
        own.threshold = arguments["threshold"]
        texts = [str(text) for text in frame[column]]
        begins = [0, *accumulate(len(text) + len(BETWEEN) for text in texts)][: len(texts)]
        whole = BETWEEN.join(texts)
        sums = own.sums(whole, np.array(begins, np.int64), sentences.bounds(whole)).figures
        confidence = arguments.get("confidence") or CONFIDENCE
        return summary.summarise(BiasSums.model_validate(sums), True, confidence).model_dump()


class ExpectBiasScoreToBeWithin(StatedExpectation):
    """Expect few sentences with a high bias score (Dolci et al. 2023, equation 3).

    The expectation fails if even the lower bound of the share's interval is above max_value.
    Without a scored sentence, or with one document, nothing is judged and it holds.

    Attributes:
        column: Column with texts.
        threshold: Score above which a sentence's score is high, such as a percentile of a
            reference corpus (`evenflow lab bias-score reference`).
        max_value: Largest share of such sentences allowed, 0 to 1.
        attribute: Attribute whose groups words lean to.
        vectors: As bias_score.vectors of the configuration; None for the shipped static ones.
        confidence: Confidence level of the interval, between 0.5 and 1.
    """

    column: str
    threshold: float = Field(ge=0)
    max_value: float = Field(ge=0, le=1)
    attribute: str = "gender"
    vectors: Union[str, None] = None  # noqa: UP007 (read at run time, by pydantic 1)
    confidence: float = Field(default=CONFIDENCE, gt=0.5, lt=1)

    metric_dependencies: ClassVar[tuple[str, ...]] = (METRIC,)
    success_keys: ClassVar[tuple[str, ...]] = (
        "column",
        "threshold",
        "max_value",
        "attribute",
        "vectors",
        "confidence",
    )
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def judge(self, value: Any) -> dict[str, Any]:
        """It holds if the lower bound is within the limit, or if there is too little to judge."""
        share = value["above"]
        low = share["low"] if share is not None else None
        return {
            "success": low is None or low <= self.max_value,
            "result": {
                "observed_value": share["value"] if share else None,
                "details": {**value, "judged": low is not None},
            },
        }

    @classmethod
    def statement(cls, kwargs: dict[str, Any]) -> tuple[str, dict[str, str]]:
        """The limit and what is counted."""
        return SENTENCE, {
            "column": kwargs["column"],
            "attribute": kwargs.get("attribute") or "gender",
            "threshold": f"{kwargs['threshold']:g}",
            "max_value": f"{kwargs['max_value']:g}",
            "percent": f"{100 * kwargs.get('confidence', CONFIDENCE):g}",
        }

    @classmethod
    def describe_result(cls, result: dict[str, Any]) -> str:
        """The share with its interval."""
        details = result.get("details")
        if not details or details["above"] is None:
            return "no sentence has a score: not judged" if details else ""
        share = details["above"]
        seen = f"{share['value']:.3f} of {details['sentences']} sentences"
        if not details["judged"]:
            return f"{seen}: no interval, not judged"
        return f"{seen}, from {share['low']:.3f} to {share['high']:.3f}"
