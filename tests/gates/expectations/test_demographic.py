"""The expectation on Demographic Representation."""

from typing import Any

import great_expectations as gx
import numpy as np
import pandas as pd
import pytest

from evenflow.gates.expectations.demographic import (
    ExpectDemographicRepresentationToBeWithin as Expectation,
)
from evenflow.transforms.measures.representation.dr import score, sums

ONE_SIDED = np.array([[3, 1]] * 100)  # DR 0.25 without any spread
# Uneven, but not more than by chance
SCATTERED = np.array([[3, 0], [0, 2], [2, 1], [1, 4], [5, 1], [0, 1]])


def validate(counts: np.ndarray, **arguments: Any) -> Any:
    """The result of the expectation on a frame of counts."""
    context: Any = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    frame = pd.DataFrame(counts, columns=pd.Index([f"c{i}" for i in range(counts.shape[1])]))
    batch = (
        context.data_sources.add_pandas("p")
        .add_dataframe_asset("a")
        .add_batch_definition_whole_dataframe("b")
    )
    return batch.get_batch(batch_parameters={"dataframe": frame}).validate(
        Expectation(columns=list(frame.columns), **arguments)
    )


@pytest.mark.parametrize(
    ("counts", "arguments", "holds"),
    [
        (ONE_SIDED, {"max_value": 0.25}, True),
        (ONE_SIDED, {"max_value": 0.24}, False),
        (ONE_SIDED, {"max_value": 0.24, "min_mentions": 400}, False),
        (ONE_SIDED, {"max_value": 0.24, "min_mentions": 401}, True),
        (ONE_SIDED, {"max_value": 0, "target": [0.75, 0.25]}, True),
        (ONE_SIDED, {"max_value": 0.4, "target": [0.25, 0.75]}, False),
        (ONE_SIDED[:1], {"max_value": 0}, True),  # of one document there is no interval
        (np.zeros((5, 2), int), {"max_value": 0}, True),
        # Its DR is above 0, the lower bound of its interval is not
        (SCATTERED, {"max_value": 0}, True),
    ],
)
def test_the_lower_bound_is_judged(
    counts: np.ndarray, arguments: dict[str, Any], holds: bool
) -> None:
    result = validate(counts, **arguments)
    assert result.success is holds
    assert not result.exception_info["raised_exception"]


def test_between_the_lower_bound_and_the_score_a_limit_is_not_broken() -> None:
    counts = np.array([[5, 1], [3, 2], [4, 0], [6, 3], [2, 1]] * 10)
    expected = score(sums(counts))
    assert expected.low is not None and expected.dr is not None and 0 < expected.low < expected.dr
    assert validate(counts, max_value=(expected.low + expected.dr) / 2).success
    assert not validate(counts, max_value=expected.low - 1e-6).success


def test_what_is_seen_is_the_score() -> None:
    result = validate(SCATTERED, max_value=1, confidence=0.9)
    seen = result.result
    expected = score(sums(SCATTERED), None, 0.9)
    assert expected.dr and expected.low == 0
    assert seen["observed_value"] == expected.dr
    assert seen["details"] == {**expected.model_dump(), "judged": True}
    interval = f"DR {expected.dr:.3f}, from {expected.low:.3f} to {expected.high:.3f}, "
    assert (
        Expectation.describe_result(seen)
        == f"{interval}mentions: {expected.mentions}, documents with any: {expected.documents}"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"columns": ["a"]}, "columns"),
        ({"columns": ["a", "a"]}, "columns"),
        ({"max_value": 1.1}, "max_value"),
        ({"max_value": -0.1}, "max_value"),
        ({"target": [0.5, 0.4]}, "add up to 1"),
        ({"target": [1.5, -0.5]}, "add up to 1"),
        ({"target": []}, "add up to 1"),
        ({"target": [0.5, 0.25, 0.25]}, "2 shares were expected, one for each column, not 3"),
        ({"confidence": 0.5}, "confidence"),
        ({"min_mentions": -1}, "min_mentions"),
        ({"attribut": "gender"}, "attribut"),
    ],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Expectation(**{"columns": ["a", "b"], "max_value": 0.1, **arguments})


@pytest.mark.parametrize(
    ("counts", "arguments", "words"),
    [
        (ONE_SIDED, {}, "mentions: 400, documents with any: 100"),
        (
            ONE_SIDED,
            {"min_mentions": 500},
            "mentions: 400, documents with any: 100: too few, not judged",
        ),
        (
            ONE_SIDED[:1],
            {},
            "DR 0.250, mentions: 4, documents with any: 1: no interval, not judged",
        ),
        (np.zeros((5, 2), int), {}, "nothing mentioned: not judged"),
    ],
)
def test_it_says_in_words_what_was_seen_and_why_it_is_not_judged(
    counts: np.ndarray, arguments: dict[str, Any], words: str
) -> None:
    assert Expectation.describe_result(validate(counts, max_value=1, **arguments).result).endswith(
        words
    )


def test_a_missing_column_is_named() -> None:
    context: Any = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    batch = (
        context.data_sources.add_pandas("p")
        .add_dataframe_asset("a")
        .add_batch_definition_whole_dataframe("b")
    )
    result = batch.get_batch(batch_parameters={"dataframe": pd.DataFrame({"a": [1]})}).validate(
        Expectation(columns=["a", "b"], max_value=1)
    )
    assert not result.success
    assert "no such column: b" in str(result.exception_info)
