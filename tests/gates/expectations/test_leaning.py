"""The expectation on the bias score."""

from __future__ import annotations

from string import Template
from typing import Any

import great_expectations as gx
import pandas as pd
import pytest

from evenflow.gates.expectations.leaning import ExpectBiasScoreToBeWithin

HIGH = ["The bikini is pink.", "Beauty pageant."]
LOW = ["The report is long.", "It is a list of results."]


def validate(texts: list[str], **arguments: Any) -> Any:
    context: Any = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    batch = (
        context.data_sources.add_pandas("p")
        .add_dataframe_asset("a")
        .add_batch_definition_whole_dataframe("b")
    )
    return batch.get_batch(batch_parameters={"dataframe": pd.DataFrame({"text": texts})}).validate(
        ExpectBiasScoreToBeWithin(column="text", threshold=0.13, **arguments)
    )


@pytest.mark.parametrize(
    ("texts", "limit", "holds"),
    [
        (HIGH * 20, 0.5, False),
        (LOW * 20, 0.5, True),
        (HIGH[:1], 0, True),  # of one document there is no interval
        (["Xqz."] * 5, 0, True),
        ([], 0, True),
    ],
)
def test_the_lower_bound_is_judged(texts: list[str], limit: float, holds: bool) -> None:
    result = validate(texts, max_value=limit)
    assert result.success is holds
    assert not result.exception_info["raised_exception"]


def test_it_says_what_it_found() -> None:
    result = validate(HIGH * 20 + LOW * 20, max_value=1).to_json_dict()["result"]
    said = ExpectBiasScoreToBeWithin.describe_result(result)
    assert said.startswith("0.500 of 80 sentences, from 0.")
    template, values = ExpectBiasScoreToBeWithin.statement(
        {"column": "text", "threshold": 0.13, "max_value": 0.2}
    )
    assert "above 0.13 must not be above 0.2" in Template(template).substitute(values)
