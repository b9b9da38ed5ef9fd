"""Users' suites: what is read, what is refused, and the messages."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenflow.gates.expectations import demographic
from evenflow.gates.expectations.user_suite import SuiteError, load

MENTIONS = {"gender": ["mentions_gender_female", "mentions_gender_male"]}
MEAN = {"type": "expect_column_mean_to_be_between", "kwargs": {"column": "n", "min_value": 1}}


def written(folder: Path, suite: Any, name: str = "suite.yaml") -> Path:
    """The file of a suite."""
    path = folder / name
    path.write_text(
        json.dumps(suite) if name.endswith(".json") else yaml.safe_dump(suite), encoding="utf-8"
    )
    return path


def mean(**kwargs: Any) -> dict[str, Any]:
    """An entry that expects a mean."""
    return {"type": MEAN["type"], "kwargs": {**MEAN["kwargs"], **kwargs}}


def one(kind: str, **kwargs: Any) -> dict[str, Any]:
    """An entry."""
    return {"type": kind, "kwargs": kwargs}


@pytest.mark.parametrize("name", ["suite.yaml", "suite.json"])
def test_a_list_and_an_exported_suite_are_read(tmp_path: Path, name: str) -> None:
    entry = {
        **MEAN,
        "meta": {"by": "me"},
        "severity": "warning",
        "id": "c0ffee",
        "rendered_content": None,
    }
    [alone] = load(written(tmp_path, [entry], name), MENTIONS).expectations
    exported = {
        "name": "mine",
        "expectations": [entry],
        "meta": {},
        "notes": None,
        "id": "cafe",
        "suite_parameters": {},
    }
    [among] = load(written(tmp_path, exported, name), MENTIONS).expectations
    assert alone == among
    assert (alone.expectation_type, alone.column, alone.min_value) == (MEAN["type"], "n", 1)
    assert (alone.severity, alone.meta, alone.id) == ("warning", {"by": "me"}, None)


def test_a_suite_that_great_expectations_wrote_is_read(tmp_path: Path) -> None:
    import great_expectations as gx

    expectation: Any = gx.expectations
    suite = gx.ExpectationSuite(
        name="s", expectations=[expectation.ExpectColumnToExist(column="n", severity="info")]
    )
    path = tmp_path / "s.json"
    path.write_text(json.dumps(suite.to_json_dict()), encoding="utf-8")
    [read] = load(path, MENTIONS).expectations
    assert (read.column, read.severity) == ("n", "info")


def test_columns_follow_from_the_attribute(tmp_path: Path) -> None:
    entry = {"type": demographic.ExpectDemographicRepresentationToBeWithin.expectation_type}
    suite = [{**entry, "kwargs": {"attribute": "gender", "max_value": 0.2}}]
    [read] = load(written(tmp_path, suite), MENTIONS).expectations
    assert read.columns == MENTIONS["gender"]


@pytest.mark.parametrize(
    ("entries", "columns"),
    [
        ([mean()], {"n"}),
        ([mean(), mean(column="text")], {"n", "text"}),
        ([one("expect_compound_columns_to_be_unique", column_list=["a", "b"])], {"a", "b"}),
        ([one("expect_column_pair_values_to_be_equal", column_A="a", column_B="b")], {"a", "b"}),
        ([mean(), {"type": "expect_table_column_count_to_equal", "kwargs": {"value": 3}}], None),
        ([{"type": "expect_column_to_exist", "kwargs": {"column": "a"}}], None),
        ([mean(row_condition='col("x") > 1', condition_parser="great_expectations")], None),
        ([], set()),
    ],
)
def test_the_columns_that_a_suite_reads(
    tmp_path: Path, entries: list[Any], columns: set[str] | None
) -> None:
    assert load(written(tmp_path, entries), MENTIONS).columns == columns


DEMOGRAPHIC = "expect_demographic_representation_to_be_within"
CONDITION = {"type": "comparison", "column": {"name": "n"}, "operator": ">", "parameter": 1}
PASSED = {"type": "pass_through", "pass_through_filter": "n > 1"}
SCHEMA = "expect_column_values_to_match_json_schema"


def of_column(name: str) -> dict[str, Any]:
    """A condition on a column."""
    return {**CONDITION, "column": {"name": name}}


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        ("x", "a list of expectations was expected, each with type and kwargs, not 'x'"),
        (None, "not nothing"),
        ({"expectation": []}, "a list of expectations was expected"),
        ({"expectations": {}}, "a list of expectations was expected"),
        ({"expectations": [], "expectatoins": []}, "unknown key 'expectatoins' (did you mean"),
        ({"expectations": [], "suite_parameters": [1]}, "suite_parameters: a mapping of names"),
        ([MEAN, 3], "entry 2: a mapping with type and kwargs was expected, not 3"),
        ([{"kwargs": {}}], "entry 1: type: the name of an expectation was expected, not nothing"),
        (
            [one("expect_column_mean_to_be_betwen")],
            "did you mean expect_column_mean_to_be_between?)",
        ),
        ([{**MEAN, "type": "window"}], "entry 1 (window): no expectation of that name"),
        ([{**MEAN, "type": "unexpected_rows_expectation"}], "asks a database"),
        ([{**MEAN, "kwarg": {}}], "unknown key 'kwarg' (did you mean kwargs?)"),
        ([{**MEAN, "kwargs": [1]}], "kwargs: a mapping of arguments was expected, not [1]"),
        ([{"type": MEAN["type"]}], "kwargs.column: field required"),
        ([mean(mn_value=1)], "kwargs.mn_value: unknown argument (did you mean min_value?)"),
        ([{**MEAN, "severity": "bad"}], "severity: one of critical, warning, info was expected,"),
        ([{"type": DEMOGRAPHIC, "kwargs": {"max_value": 1}}], "kwargs.attribute: the name of an"),
        (
            [one(DEMOGRAPHIC, attribute="gendr", max_value=1)],
            "did you mean gender?); known are gender",
        ),
        ([one(DEMOGRAPHIC, attribute="gender", max_value=2)], "kwargs.max_value"),
        ([mean(min_value={"$PARAMETER": "low"})], "No value found for $PARAMETER low"),
        # What pandas would run as code, and what would be fetched:
        ([mean(row_condition="n > 1")], "kwargs.row_condition: text needs condition_parser:"),
        ([mean(row_condition="n > 1", condition_parser="pandas")], "kwargs.condition_parser:"),
        ([mean(row_condition="@pd", condition_parser="great_expectations")], "unable to parse"),
        ([mean(row_condition=PASSED)], "would run text as code"),
        ([mean(row_condition=of_column("n` or @pd"))], "a backtick cannot be quoted"),
        ([mean(row_condition={"type": "and", "conditions": [of_column("`")]})], "a backtick"),
        ([one(SCHEMA, column="n", json_schema={"$ref": "http://x"})], "$ref refers to 'http://x'"),
    ],
)
def test_defects_are_named_with_file_and_entry(tmp_path: Path, suite: Any, message: str) -> None:
    path = written(tmp_path, suite)
    with pytest.raises(SuiteError) as error:
        load(path, MENTIONS)
    assert message in str(error.value)
    assert all(line.startswith(f"{path}: ") for line in str(error.value).splitlines())


def test_all_defects_are_named_at_once(tmp_path: Path) -> None:
    with pytest.raises(SuiteError) as error:
        load(written(tmp_path, [mean(a=1), MEAN, mean(column=None)]), MENTIONS)
    assert [line.split(": ")[1].split()[1] for line in str(error.value).splitlines()] == ["1", "3"]


@pytest.mark.parametrize(
    ("name", "data", "message"),
    [
        ("suite.yaml", None, ": No such file"),
        ("suite.yaml", b"[\n", ": not YAML"),
        ("suite.json", b"[\n", ": not JSON"),
        ("suite.yaml", b"\xff", ":1: not UTF-8"),
        ("suite.json", b"[\n\xef\xbb\xbf]", ":2: a byte-order mark"),
        (
            "suite.json",
            b'\xef\xbb\xbf[{"type": "x", "kwargs": {"max_value": NaN}}]',
            ".* NaN is no",
        ),
        ("suite.yaml", b"- !!python/object/apply:os.getpid []\n", ": not YAML"),
        ("suite.json", b"[" * 100_000, ": not JSON"),
    ],
)
def test_files_that_cannot_be_read(
    tmp_path: Path, name: str, data: bytes | None, message: str
) -> None:
    if data is not None:
        (tmp_path / name).write_bytes(data)
    with pytest.raises(SuiteError, match=f"{name}{message}"):
        load(tmp_path / name, MENTIONS)


@pytest.mark.parametrize("value", [".nan", "1:30"])
def test_what_is_no_number_is_no_bound(tmp_path: Path, value: str) -> None:
    (tmp_path / "suite.yaml").write_text(
        "- type: expect_column_mean_to_be_between\n"
        f"  kwargs: {{column: words, max_value: {value}}}\n"
    )
    with pytest.raises(SuiteError, match=r"entry 1 .*max_value"):
        load(tmp_path / "suite.yaml", MENTIONS)


def test_structured_conditions_and_parameters_are_let_through(tmp_path: Path) -> None:
    suite = {
        "expectations": [mean(row_condition=CONDITION), mean(min_value={"$PARAMETER": "low * 2"})],
        "suite_parameters": {"low": 1},
    }
    read = load(written(tmp_path, suite), MENTIONS)
    assert len(read.expectations) == 2
    assert read.parameters == {"low": 1}
