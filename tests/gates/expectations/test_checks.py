"""Checks of panes: the own suite, users' suites, and what a failure says."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
import yaml
from great_expectations.validator.validator import Validator
from pane_shards import LISTS, TEXTS, KeptChecks, changed, entry, pane, replaced, write

from evenflow.gates.expectations.checks import PaneChecks
from evenflow.gates.expectations.own_suite import DrLimit
from evenflow.gates.expectations.user_suite import SuiteError
from evenflow.gates.expectations.validate import Suite
from evenflow.schemas.documents import mentions
from evenflow.schemas.ledger import AttributeEntry, Checks

DEMOGRAPHIC = "expect_demographic_representation_to_be_within"
Attributes = dict[str, AttributeEntry]


def checks(root: Path, suite: Any = None, **limits: DrLimit) -> KeptChecks:
    """The checks of an output directory, with a user's suite if there is one."""
    path = None
    if suite is not None:
        path = root / "suite.yaml"
        path.write_text(yaml.safe_dump(suite), encoding="utf-8")
    return KeptChecks(root, path, lists=LISTS, limits=limits)


def failures(checked: Checks) -> list[tuple[str, str, str, str]]:
    """The failures as tuples."""
    return [
        (each.expectation, each.subject, each.observed, each.severity) for each in checked.failures
    ]


def test_a_good_pane_passes(tmp_path: Path) -> None:
    table, attributes = pane()
    checked = checks(tmp_path, gender=DrLimit(0.45), age=DrLimit(0.45)).run(
        0, write(tmp_path, table), attributes, len(TEXTS)
    )
    assert checked == Checks(success=True, evaluated=9, failures=[])


def drop(table: pa.Table, attributes: Attributes) -> pa.Table:
    """Leave out a column of mentions."""
    return table.drop_columns(["mentions_age_old"])


def other_sum(table: pa.Table, attributes: Attributes) -> pa.Table:
    """Record another sum in the ledger's entry."""
    attributes["gender"].sums.counts[0] += 1
    return table


MALE = "mentions_gender_male"
KINDS, SUMS = "expect_columns_to_hold_texts_and_counts", "expect_column_sums_to_equal"


@pytest.mark.parametrize(
    ("spoil", "expected"),
    [
        (
            drop,
            {
                (KINDS, "pane", "mentions_age_old is missing"),
                (SUMS, "pane", "mentions_age_old has no sum, not 0"),
            },
        ),
        (other_sum, {(SUMS, "pane", "mentions_gender_female adds up to 3, not 4")}),
        (
            lambda table, _: replaced(table, MALE, pa.array([1.0] * 4)),
            {
                (KINDS, "pane", f"{MALE} holds double, not integer"),
                (SUMS, "pane", f"{MALE} has no sum, not 6"),
            },
        ),
        (
            lambda table, _: changed(table, "id", {1: "doc-0"}),
            {("expect_column_values_to_be_unique", "id", "2 of 4: doc-0, doc-0")},
        ),
        (
            lambda table, _: changed(table, "id", {2: None}),
            {("expect_column_values_to_not_be_null", "id", "1 of 4: None")},
        ),
        (
            lambda table, _: changed(table, "text", {2: ""}),
            {("expect_column_values_to_be_between", "text", "1 of 4: 0")},
        ),
        (
            lambda table, _: changed(table, "text", {2: None}),
            {("expect_column_values_to_be_between", "text", "1 of 4: 0")},
        ),
        (
            lambda table, _: changed(
                changed(table, MALE, {1: 5}), "mentions_gender_female", {1: -1}
            ),
            {
                (KINDS, "pane", "mentions_gender_female is negative"),
                (
                    SUMS,
                    "pane",
                    f"mentions_gender_female adds up to 2, not 3; {MALE} adds up to 8, not 6",
                ),
                (
                    "expect_column_values_to_be_null",
                    "text",
                    (
                        "1 of 4: document 'doc-1': mentions_gender_female is -1, counted again 0;"
                        f" {MALE} is 5, counted again 3"
                    ),
                ),
            },
        ),
        (
            lambda table, _: table.slice(0, 3),
            {
                ("expect_table_row_count_to_equal", "pane", "3"),
                (
                    SUMS,
                    "pane",
                    f"mentions_gender_female adds up to 2, not 3; {MALE} adds up to 5, not 6",
                ),
            },
        ),
    ],
)
def test_each_kind_of_defect_fails_the_pane_and_is_named(
    tmp_path: Path,
    spoil: Callable[[pa.Table, Attributes], pa.Table],
    expected: set[tuple[str, str, str]],
) -> None:
    table, attributes = pane()
    checked = checks(tmp_path).run(
        0, write(tmp_path, spoil(table, attributes)), attributes, len(TEXTS)
    )
    assert not checked.success
    assert {*failures(checked)} == {(*each, "critical") for each in expected}


def outcomes(gate: PaneChecks, shards: list[Path], attributes: Attributes, documents: int) -> Any:
    """The checks of a pane, and what is stored of them but for their times."""
    sums = {
        mentions(name, group): count
        for name, each in attributes.items()
        for group, count in zip(each.groups, each.sums.counts, strict=True)
    }
    checked, stored = gate.check(0, shards, sums, documents)
    for each in stored:
        del each["result"]["meta"]["batch_markers"], each["result"]["meta"]["run_id"], each["name"]
    return checked, stored


def test_panes_one_after_the_other_have_the_results_that_great_expectations_gives_each(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table, attributes = pane()
    tables = [
        table,
        table.slice(0, 3),
        table.drop_columns(["text"]),
        changed(table, MALE, {0: 5}),
        changed(table, "id", {1: "doc-0", 2: None}),
        table,
    ]
    shards: list[list[Path]] = []
    for number, each in enumerate(tables):
        (tmp_path / str(number)).mkdir()
        shards.append(write(tmp_path / str(number), each))
    gate = PaneChecks(lists=LISTS, limits={"gender": DrLimit(0.1, min_mentions=1)})
    one_by_one = [outcomes(gate, each, attributes, len(TEXTS)) for each in shards]
    good = one_by_one[0]
    with monkeypatch.context() as patched:  # a good pane needs none of it
        patched.setattr(Validator, "graph_validate", None)
        assert outcomes(gate, shards[0], attributes, len(TEXTS)) == good
    monkeypatch.setattr(Suite, "_quickly", lambda *_: None)
    assert [outcomes(gate, each, attributes, len(TEXTS)) for each in shards] == one_by_one
    assert [checked.success for checked, _ in one_by_one] == [True, *[False] * 4, True]


def test_a_missing_text_fails_all_that_needs_it(tmp_path: Path) -> None:
    table, attributes = pane()
    checked = checks(tmp_path).run(
        0, write(tmp_path, table.drop_columns(["text"])), attributes, table.num_rows
    )
    assert (KINDS, "pane", "text is missing", "critical") in failures(checked)
    assert {
        subject
        for _, subject, observed, _ in failures(checked)
        if observed.startswith("could not be checked")
    } == {"text"}


def test_dr_above_its_limit_is_recorded_and_sets_no_pane_aside(tmp_path: Path) -> None:
    table, attributes = pane(["She and her sister saw a man."] * 50)
    gate = checks(tmp_path, gender=DrLimit(0.1), age=DrLimit(0.1))
    checked = gate.run(0, write(tmp_path, table), attributes, table.num_rows)
    assert checked.success
    [failure] = checked.failures
    assert (failure.expectation, failure.subject, failure.severity) == (
        DEMOGRAPHIC,
        "gender",
        "warning",
    )
    assert failure.observed.startswith("DR 0.250, from 0.2")
    assert (
        checks(tmp_path, gender=DrLimit(0.1, min_mentions=1000))
        .run(0, write(tmp_path, table), attributes, table.num_rows)
        .failures
        == []
    )
    assert (
        checks(tmp_path, gender=DrLimit(0.1, [0.75, 0.25]))
        .run(0, write(tmp_path, table), attributes, table.num_rows)
        .failures
        == []
    )


def test_a_users_suite_sees_the_shards_columns_and_its_severities_count(tmp_path: Path) -> None:
    table, attributes = pane(language=["en", "de", "en", "xx"], n=[1, 2, None, 4])
    suite = [
        {
            "type": "expect_column_values_to_be_in_set",
            "kwargs": {"column": "language", "value_set": ["en", "de"]},
            "severity": "info",
        },
        {
            "type": "expect_column_values_to_match_regex",
            "kwargs": {"column": "text", "regex": r"\.$"},
        },
        {"type": "expect_table_columns_to_match_set", "kwargs": {"column_set": table.column_names}},
        {"type": "expect_column_max_to_be_between", "kwargs": {"column": "n", "max_value": 4}},
    ]
    checked = checks(tmp_path, suite).run(0, write(tmp_path, table), attributes, table.num_rows)
    assert (checked.success, checked.evaluated) == (True, 11)
    assert failures(checked) == [
        ("expect_column_values_to_be_in_set", "language", "1 of 4: xx", "info")
    ]
    suite[0]["severity"] = "critical"
    assert (
        not checks(tmp_path, suite)
        .run(0, write(tmp_path, table), attributes, table.num_rows)
        .success
    )


def test_what_cannot_be_checked_fails_with_the_reason_and_without_paths(tmp_path: Path) -> None:
    table, attributes = pane()
    suite = [
        {
            "type": "expect_column_mean_to_be_between",
            "kwargs": {"column": "absent", "min_value": 1},
            "severity": "warning",
        }
    ]
    [failure] = (
        checks(tmp_path, suite).run(0, write(tmp_path, table), attributes, table.num_rows).failures
    )
    assert failure.observed.startswith("could not be checked: ")
    assert "absent" in failure.observed
    assert "Traceback" not in failure.observed and "/" not in failure.observed
    [stored] = (tmp_path / "checks" / "gx" / "validations" / "user").rglob("*.json")
    assert "Traceback" not in stored.read_text()


def test_long_values_are_cut(tmp_path: Path) -> None:
    table, attributes = pane(["y" * 100_000] * 3)
    suite = [
        {"type": "expect_column_values_to_match_regex", "kwargs": {"column": "text", "regex": "^x"}}
    ]
    [failure] = (
        checks(tmp_path, suite).run(0, write(tmp_path, table), attributes, table.num_rows).failures
    )
    assert len(failure.observed) < 1000
    assert sum(path.stat().st_size for path in (tmp_path / "checks").rglob("*.json")) < 50_000


def test_the_same_pane_gives_the_same_checks_in_every_run(tmp_path: Path) -> None:
    table, attributes = pane(tags=[["a"], [], ["b"], []])
    spoilt = write(tmp_path, changed(changed(table, "id", {1: "doc-0"}), MALE, {0: 5}))
    suite = [
        {
            "type": "expect_column_values_to_be_in_set",
            "kwargs": {"column": "tags", "value_set": [1]},
        },
        {"type": "expect_column_mean_to_be_between", "kwargs": {"column": "tags", "min_value": 1}},
        {
            "type": "expect_column_values_to_be_of_type",
            "kwargs": {"column": "text", "type_": "int"},
        },
    ]
    one, two = (
        checks(tmp_path / name, suite)
        for name in ("one", "two")
        if (tmp_path / name).mkdir() is None
    )
    first = one.run(7, spoilt, attributes, table.num_rows)
    assert len(first.failures) >= 5
    assert (
        first
        == one.run(7, spoilt, attributes, table.num_rows)
        == two.run(3, spoilt, attributes, table.num_rows)
    )


def test_an_empty_pane_passes_and_is_not_asked_for_a_users_suite(tmp_path: Path) -> None:
    attributes = {
        words.attribute: entry(words.groups, np.zeros((0, len(words.groups)), int))
        for words in LISTS
    }
    suite = [{"type": "expect_table_row_count_to_be_between", "kwargs": {"min_value": 1}}]
    gate = checks(tmp_path, suite, gender=DrLimit(0.1))
    assert gate.run(0, [], attributes, 0) == Checks(success=True, evaluated=8, failures=[])
    attributes["gender"].sums.counts[1] = 4
    assert {each.expectation for each in gate.run(0, [], attributes, 3).failures} == {
        SUMS,
        "expect_table_row_count_to_equal",
    }


def test_names_of_id_and_text_are_the_inputs(tmp_path: Path) -> None:
    table, attributes = pane()
    named = table.rename_columns(["url", "body", *table.column_names[2:]])
    gate = KeptChecks(tmp_path, lists=LISTS, identity="url", text="body")
    assert gate.run(0, write(tmp_path, named), attributes, table.num_rows).success
    checked = gate.run(
        1,
        write(tmp_path, changed(changed(named, "url", {0: "doc-1"}), "body", {2: ""})),
        attributes,
        table.num_rows,
    )
    assert {each.subject for each in checked.failures} == {"url", "body"}


def test_a_wrong_suite_is_refused_before_any_pane(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"suite\.yaml: entry 1 \(expect_colum\)"):
        checks(tmp_path, [{"type": "expect_colum"}])


def test_great_expectations_is_imported_by_who_checks_alone() -> None:
    code = (
        "import evenflow.gates.expectations.checks, sys; print('great_expectations' in sys.modules)"
    )
    assert (
        subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True
        ).stdout
        == "False\n"
    )
