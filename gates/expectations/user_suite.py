"""A user's own suite of expectations, read from a file: YAML, or the JSON that Great Expectations
itself writes for a suite.

    - type: expect_column_values_to_be_in_set
      kwargs: {column: language, value_set: [en, de]}
    - type: expect_demographic_representation_to_be_within kwargs: {attribute: gender, max_value:
      0.2}  # the mentions' columns follow from the attribute severity: warning
      # recorded alone; critical, the default, sets the pane aside

A mapping with such a list under `expectations`, and values under `suite_parameters`, is read too.
What the file holds is data: arguments that Great Expectations would run as code, or fetch from
elsewhere, are refused.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import yaml

ENTRY = ("type", "kwargs", "meta", "notes", "description", "severity")
# Great Expectations writes them; they say nothing to it here
EXPORTED = ("id", "rendered_content", "expectation_context")
SUITE = ("name", "expectations", "suite_parameters", "meta", "notes", "id")
SEVERITIES = ("critical", "warning", "info")
DATABASES = (
    "unexpected_rows_expectation",
    "expect_query_results_to_match_comparison",
    "expect_table_row_count_to_equal_other_table",
)
DEMOGRAPHIC = "expect_demographic_representation_to_be_within"
# Arguments that name the columns that an expectation reads; one without any of them is given all
# columns.
COLUMNS = ("column", "column_A", "column_B", "column_list", "columns", "texts", "counts", "sums")
# Of conditions: these parse, «pandas» runs code
PARSERS = ("great_expectations", "great_expectations__experimental__")


class SuiteError(ValueError):
    """A suite of the user's that cannot be used; the message names file, entry and argument, a line
    each.
    """


@dataclass(frozen=True)
class UserSuite:
    """Expectations of Great Expectations with the values of their parameters.

    columns: what they read; None: all.
    """

    expectations: list[Any]
    parameters: dict[str, Any]
    columns: frozenset[str] | None


def load(path: Path, mentions: Mapping[str, Sequence[str]]) -> UserSuite:
    """Read a suite. mentions: attribute -> its columns of mentions. Raises SuiteError with every
    defect.
    """
    data = _read(path)
    parameters: Any = {}
    if isinstance(data, dict) and "expectations" in data:
        if unknown := [str(key) for key in data if key not in SUITE]:
            raise SuiteError(
                "\n".join(f"{path}: unknown key {key!r}{_nearest(key, SUITE)}" for key in unknown)
            )
        parameters = data.get("suite_parameters") or {}
        data = data["expectations"]
    if not isinstance(data, list):
        raise SuiteError(
            f"{path}: a list of expectations was expected, each with type and kwargs, not"
            f" {_shown(data)}"
        )
    if not isinstance(parameters, dict):
        raise SuiteError(
            f"{path}: suite_parameters: a mapping of names to values was expected, not"
            f" {_shown(parameters)}"
        )
    expectations: list[Any] = []
    defects: list[str] = []
    for number, entry in enumerate(data, 1):
        try:
            expectations.append(_expectation(entry, mentions, parameters))
        except _Defects as error:
            kind = entry.get("type") if isinstance(entry, dict) else None
            where = f"{path}: entry {number}" + (f" ({kind})" if isinstance(kind, str) else "")
            defects += [f"{where}: {defect}" for defect in error.lines]
    if defects:
        raise SuiteError("\n".join(defects))
    return UserSuite(expectations, parameters, _columns(expectations))


class _Defects(ValueError):
    def __init__(self, lines: Iterable[str]):
        self.lines = list(lines)
        super().__init__("; ".join(self.lines))


def _read(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise SuiteError(f"{path}: {error.strerror or error}") from error
    except UnicodeDecodeError as error:
        raise SuiteError(f"{path}: not UTF-8: {error}") from error
    try:
        return json.loads(text) if path.suffix.lower() == ".json" else yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        kind = "JSON" if path.suffix.lower() == ".json" else "YAML"
        raise SuiteError(f"{path}: not {kind}: {' '.join(str(error).split())}") from error


def _expectation(
    entry: Any, mentions: Mapping[str, Sequence[str]], parameters: dict[str, Any]
) -> Any:
    """An expectation from its entry. Raises _Defects."""
    if not isinstance(entry, dict):
        raise _Defects([f"a mapping with type and kwargs was expected, not {_shown(entry)}"])
    entry = {str(key): value for key, value in entry.items() if key not in EXPORTED}
    if unknown := [key for key in entry if key not in ENTRY]:
        raise _Defects(f"unknown key {key!r}{_nearest(key, ENTRY)}" for key in unknown)
    implementation = _implementation(entry.get("type"))
    kwargs = {} if entry.get("kwargs") is None else entry["kwargs"]
    if not isinstance(kwargs, dict):
        raise _Defects([f"kwargs: a mapping of arguments was expected, not {_shown(kwargs)}"])
    if entry.get("severity", SEVERITIES[0]) not in SEVERITIES:
        raise _Defects(
            [
                f"severity: one of {', '.join(SEVERITIES)} was expected, not"
                f" {_shown(entry['severity'])}"
            ]
        )
    kwargs = {str(key): value for key, value in kwargs.items()}
    if defects := [*_code(kwargs), *_references(kwargs)]:
        raise _Defects(defects)
    if implementation.expectation_type == DEMOGRAPHIC and "columns" not in kwargs:
        kwargs["columns"] = _mention_columns(kwargs.get("attribute"), mentions)
    built = _built(
        implementation, {**{key: entry[key] for key in ENTRY[2:] if key in entry}, **kwargs}
    )
    _try_parameters(built, parameters)
    return built


def _implementation(kind: Any) -> Any:
    """The class of an expectation by its name, as expect_… or Expect…; raises _Defects."""
    from great_expectations.expectations.registry import (
        get_expectation_impl,
        list_registered_expectation_implementations,
    )
    from great_expectations.util import camel_to_snake

    if not isinstance(kind, str):
        raise _Defects([f"type: the name of an expectation was expected, not {_shown(kind)}"])
    known = list_registered_expectation_implementations()
    name = kind if kind in known else camel_to_snake(kind)
    if name in DATABASES:
        raise _Defects(["this expectation asks a database, and a pane is none"])
    if name not in known:
        raise _Defects(
            [
                "no expectation of that"
                f" name{_nearest(name, [each for each in known if each not in DATABASES])}"
            ]
        )
    return get_expectation_impl(name)


def _mention_columns(attribute: Any, mentions: Mapping[str, Sequence[str]]) -> list[str]:
    if attribute in mentions:
        return list(mentions[attribute])
    known = f"known are {', '.join(mentions)}" if mentions else "none is measured"
    if attribute is None:
        raise _Defects(
            ["kwargs.attribute: the name of an attribute is missing, or the names of columns"]
        )
    raise _Defects(
        [
            "kwargs.attribute: no attribute"
            f" {_shown(attribute)}{_nearest(str(attribute), mentions)}; {known}"
        ]
    )


def _built(implementation: Any, arguments: dict[str, Any]) -> Any:
    from great_expectations.exceptions.exceptions import GreatExpectationsError
    from pydantic.v1 import ValidationError

    known = [field for field in implementation.__fields__ if field not in EXPORTED]
    try:
        return implementation(**arguments)
    except ValidationError as error:
        lines: list[str] = []
        for part in error.errors():
            place = ".".join(str(item) for item in part["loc"] if item != "__root__")
            if part["type"] == "value_error.extra":
                lines.append(f"kwargs.{place}: unknown argument{_nearest(place, known)}")
            else:
                lines.append(f"kwargs{f'.{place}' if place else ''}: {part['msg']}")
        raise _Defects(lines) from error
    except (GreatExpectationsError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise _Defects([f"kwargs: {' '.join(str(error).split())}"]) from error


def _try_parameters(expectation: Any, parameters: dict[str, Any]) -> None:
    """Put the suite's parameters into an expectation's arguments. Raises _Defects for one that has
    no value.
    """
    from great_expectations.core.suite_parameters import build_suite_parameters
    from great_expectations.exceptions.exceptions import SuiteParameterError

    try:
        build_suite_parameters(expectation.configuration.kwargs, parameters)
    except SuiteParameterError as error:
        raise _Defects(
            [f"kwargs: {error}; values stand in the suite's suite_parameters"]
        ) from error


def _code(kwargs: Mapping[str, Any]) -> list[str]:
    """What is wrong with a condition on rows: pandas runs a condition that is text as code."""
    condition, parser = kwargs.get("row_condition"), kwargs.get("condition_parser")
    if parser is not None and parser not in PARSERS:
        return [
            f"kwargs.condition_parser: {PARSERS[0]} was expected, not {_shown(parser)}, which would"
            " run text as code"
        ]
    if isinstance(condition, str) and parser is None:
        return [
            f"kwargs.row_condition: text needs condition_parser: {PARSERS[0]}, with a condition as"
            ' col("n") > 0'
        ]
    return [f"kwargs.row_condition: {defect}" for defect in _structured(condition)]


def _structured(condition: Any) -> list[str]:
    """Defects of a condition that is a mapping, as Great Expectations exports it."""
    if isinstance(condition, list):
        return [defect for each in condition for defect in _structured(each)]
    if not isinstance(condition, dict):
        return []
    if condition.get("type") == "pass_through" or "pass_through_filter" in condition:
        return ["pass_through would run text as code"]
    column = condition.get("column")
    name = column.get("name") if isinstance(column, dict) else column
    defects = (
        [f"column {_shown(name)}: a backtick cannot be quoted"]
        if isinstance(name, str) and "`" in name
        else []
    )
    return defects + _structured(condition.get("conditions"))


def _references(value: Any) -> list[str]:
    """References of JSON schemas to elsewhere, which would be fetched."""
    if isinstance(value, list):
        return [defect for each in value for defect in _references(each)]
    if not isinstance(value, dict):
        return []
    own = [
        f"kwargs: {key} refers to {_shown(target)}; a schema may refer to itself alone, as in '#/…'"
        for key in ("$ref", "$dynamicRef", "$recursiveRef")
        if isinstance(target := value.get(key), str) and not target.startswith("#")
    ]
    return own + [defect for each in value.values() for defect in _references(each)]


def _columns(expectations: Sequence[Any]) -> frozenset[str] | None:
    """The columns that expectations read, or None where that cannot be told from their arguments."""
    out: set[str] = set()
    for each in expectations:
        kwargs = each.configuration.kwargs
        named = [kwargs[key] for key in COLUMNS if key in kwargs]
        if (
            not named
            or kwargs.get("row_condition") is not None
            or each.expectation_type == "expect_column_to_exist"
        ):
            return None
        if any(isinstance(value, dict) and "$PARAMETER" in value for value in named):
            return None
        for value in named:
            out.update([value] if isinstance(value, str) else map(str, value))
    return frozenset(out)


def _nearest(word: str, known: Iterable[str]) -> str:
    near = get_close_matches(word.lower(), list(known), n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""


def _shown(value: Any) -> str:
    """A value in a message, in short."""
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"
