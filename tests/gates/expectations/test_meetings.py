"""The expectation on coverage."""

from typing import Any

import great_expectations as gx
import pandas as pd
import pytest

from evenflow.gates.expectations.meetings import ExpectCoverageGapToBeAtMost as Expectation

ROWS = [("f", "a")] * 40 + [("m", "a")] * 40 + [("f", "b")] * 5 + [("m", "b")] * 15


def validate(rows: list[tuple[Any, ...]], **arguments: Any) -> Any:
    """The result of the expectation on rows."""
    context: Any = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = {"globally": False}
    frame = pd.DataFrame(rows, columns=pd.Index(["sex", "race"]))
    batch = (
        context.data_sources.add_pandas("p")
        .add_dataframe_asset("a")
        .add_batch_definition_whole_dataframe("b")
    )
    return batch.get_batch(batch_parameters={"dataframe": frame}).validate(
        Expectation(columns=["sex", "race"], **arguments)
    )


@pytest.mark.parametrize(
    ("rows", "arguments", "holds", "largest"),
    [
        (ROWS, {"tau": "10", "max_value": 0.5}, True, 0.5),
        (ROWS, {"tau": "10", "max_value": 0.4}, False, 0.5),
        (ROWS, {"tau": "10", "max_value": 0.4, "depth": 1}, True, 0.0),
        (ROWS, {"tau": "10%", "max_value": 0}, True, 0.0),  # 5 % may be as many as 11 %
        (ROWS, {"tau": "40%", "max_value": 0.2}, False, None),  # race b: 20 %
        ([], {"tau": "10%", "max_value": 0}, True, None),
        ([("f", None)] * 20, {"tau": "10", "max_value": 0}, True, 0.0),
    ],
)
def test_the_largest_gap_is_judged(
    rows: list[tuple[Any, ...]], arguments: dict[str, Any], holds: bool, largest: float | None
) -> None:
    result = validate(rows, **arguments)
    assert not result.exception_info["raised_exception"]
    assert result.success is holds
    if largest is not None:
        assert result.result["observed_value"] == pytest.approx(largest)
    if not holds:
        said = Expectation.describe_result(result.result)
        assert said.endswith("race b, 20" if arguments["tau"] == "40%" else "sex f, race b, 5")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [({"columns": []}, "columns"), ({"tau": "2.0"}, "a share"), ({"max_value": 2}, "max_value")],
)
def test_wrong_arguments_are_named(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        Expectation(**{"columns": ["a"], "tau": "0.1", "max_value": 0.1, **arguments})
