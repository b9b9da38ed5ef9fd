"""Great Expectations in parts: what a run imports of it, and that it finds what the whole finds.

Each case is a process of its own, because a process imports a package once.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HELPERS = Path(__file__).parents[2] / "helpers"
CHECKED = """
import json, sys
sys.path.insert(0, {helpers!r})
{before}
from pathlib import Path
from pane_shards import LISTS, KeptChecks, changed, pane, write
from evenflow.gates.expectations.own_suite import DrLimit
root = Path({root!r})
table, attributes = pane(field=["a", "b", "c", "d"])
table = changed(table, "id", {{0: "x", 1: "x", 2: None}})
suite = root / "suite.yaml"
suite.write_text(json.dumps({suite!r}))
limits = {{"gender": DrLimit(0.1, min_mentions=3)}}
checks = KeptChecks(root, lists=LISTS, limits=limits, user_suite=suite)
checked = checks.run(0, write(root, table), attributes, table.num_rows + 1)
modules = [name for name in sys.modules if name.startswith("great_expectations.")]
{after}
print(json.dumps({{"modules": modules, "checked": checked.model_dump()}}))
"""
USERS = [
    {"type": "ExpectColumnValuesToBeInSet", "kwargs": {"column": "field", "value_set": ["a"]}},
    {"type": "expect_column_mean_to_be_between", "kwargs": {"column": "absent", "max_value": 1}},
]
WHOLE = "import great_expectations"
AFTER = """
import great_expectations as gx, pandas
context = gx.get_context(mode="ephemeral")
batches = context.data_sources.add_pandas("p").add_dataframe_asset("a")
batch = batches.add_batch_definition_whole_dataframe("b").get_batch(
    batch_parameters={"dataframe": pandas.DataFrame({"n": [1, 2]})})
result = batch.validate(gx.expectations.ExpectColumnMaxToBeBetween(column="n", max_value=1))
assert not result.success and result.result["observed_value"] == 2, result
from great_expectations.expectations.registry import list_registered_expectation_implementations
assert len(list_registered_expectation_implementations()) > 50
"""


def checked(root: Path, before: str = "", after: str = "") -> dict[str, Any]:
    """What the checks of a pane say in a new process, and what that has imported."""
    root.mkdir()
    code = CHECKED.format(
        helpers=str(HELPERS), root=str(root), suite=USERS, before=before, after=after
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_part_of_great_expectations_finds_what_the_whole_finds(tmp_path: Path) -> None:
    """And a program that goes on after a check has all of it."""
    part = checked(tmp_path / "part", after=AFTER)
    whole = checked(tmp_path / "whole", before=WHOLE)
    assert part["checked"] == whole["checked"]
    assert not part["checked"]["success"] and len(part["checked"]["failures"]) >= 4
    assert len(part["modules"]) < len(whole["modules"]) * 0.6
    unneeded = ("datasource.fluent.sql_datasource", "checkpoint.checkpoint", "core.validation")
    assert not [name for name in part["modules"] if any(end in name for end in unneeded)]


@pytest.mark.parametrize("name", ["ExpectNothing", "os", "../os", "expect_column_values_to_be_in"])
def test_a_name_that_is_no_expectation_is_refused_with_a_near_one(
    tmp_path: Path, name: str
) -> None:
    from evenflow.gates.expectations.user_suite import SuiteError, load

    (tmp_path / "suite.yaml").write_text(json.dumps([{"type": name, "kwargs": {}}]))
    with pytest.raises(SuiteError, match="no expectation of that name"):
        load(tmp_path / "suite.yaml", {})
