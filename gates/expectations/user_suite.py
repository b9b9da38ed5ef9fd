"""Reads a user's own suite of expectations from a file.

The file is YAML, or the JSON that Great Expectations writes for a suite:

    - type: expect_column_values_to_be_in_set
      kwargs: {column: language, value_set: [en, de]}
    - type: expect_demographic_representation_to_be_within
      kwargs: {attribute: gender, max_value: 0.2}  # gives the columns of the mentions
      severity: warning  # only recorded; critical, the default, quarantines the pane

A mapping with such a list under `expectations`, and with values under `suite_parameters`, is read
too.
"""

from __future__ import annotations

import importlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import yaml

from evenflow.gates.expectations.lazy_packages import whole
from evenflow.gates.expectations.unsafe import shown, unsafe_arguments
from evenflow.schemas.errors import UsageError
from evenflow.schemas.guards import is_list, is_mapping
from evenflow.wordlists import nodes

ENTRY = ("type", "kwargs", "meta", "notes", "description", "severity")
# Great Expectations exports these keys; they are ignored here
EXPORTED = ("id", "rendered_content", "expectation_context")
SUITE = ("name", "expectations", "suite_parameters", "meta", "notes", "id")
SEVERITIES = ("critical", "warning", "info")
DATABASES = (
    "unexpected_rows_expectation",
    "expect_query_results_to_match_comparison",
    "expect_table_row_count_to_equal_other_table",
)
DEMOGRAPHIC = "expect_demographic_representation_to_be_within"
# Arguments that name the columns that an expectation reads. An expectation without any of them
# gets all columns.
COLUMNS = ("column", "column_A", "column_B", "column_list", "columns", "texts", "counts", "sums")


class SuiteError(UsageError):
    """A user's suite that cannot be used.

    The message has a line for each defect: file, entry, argument and what is wrong.
    """


@dataclass(frozen=True)
class UserSuite:
    """A user's suite."""

    expectations: list[Any]
    parameters: dict[str, Any]
    columns: frozenset[str] | None


def load(path: Path, mentions: Mapping[str, Sequence[str]]) -> UserSuite:
    """Read a suite."""
    data = _read(path)
    parameters: Any = {}
    if is_mapping(data) and "expectations" in data:
        if unknown := [str(key) for key in data if key not in SUITE]:
            raise SuiteError(
                "\n".join(f"{path}: unknown key {key!r}{_nearest(key, SUITE)}" for key in unknown)
            )
        parameters = data.get("suite_parameters") or {}
        data = data["expectations"]
    if not is_list(data):
        raise SuiteError(
            f"{path}: a list of expectations was expected, each with type and kwargs, not"
            f" {shown(data)}"
        )
    if not is_mapping(parameters):
        raise SuiteError(
            f"{path}: suite_parameters: a mapping of names to values was expected, not"
            f" {shown(parameters)}"
        )
    expectations: list[Any] = []
    defects: list[str] = []
    for number, entry in enumerate(data, 1):
        try:
            expectations.append(_expectation(entry, mentions, parameters))
        except _DefectsError as error:
            kind = entry.get("type") if is_mapping(entry) else None
            where = f"{path}: entry {number}" + (f" ({kind})" if isinstance(kind, str) else "")
            defects += [f"{where}: {defect}" for defect in error.lines]
    if defects:
        raise SuiteError("\n".join(defects))
    return UserSuite(expectations, parameters, _columns(expectations))


class _DefectsError(ValueError):
    """Defects of one entry."""

    def __init__(self, *lines: str):
        self.lines = lines
        super().__init__("; ".join(lines))


def _read(path: Path) -> Any:
    """The content of a suite's file. Raises SuiteError."""
    try:
        text = nodes.decoded(path.read_bytes())
    except OSError as error:
        raise SuiteError(f"{path}: {error.strerror or error}") from error
    if isinstance(text, nodes.Defect):
        raise SuiteError(f"{path}:{text.line}: {text.what}")
    kind = "JSON" if path.suffix.lower() == ".json" else "YAML"
    try:
        if kind == "YAML":
            return yaml.load(text, nodes.PARSER)
        return json.loads(text, parse_constant=_constant)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise SuiteError(f"{path}: not {kind}: {' '.join(str(error).split())}") from error


def _constant(name: str) -> float:
    """An infinity, as Python writes it to JSON. Raises ValueError for NaN, which bounds nothing."""
    if name == "NaN":
        raise ValueError("NaN is no number")
    return float(name)


def _expectation(
    entry: Any, mentions: Mapping[str, Sequence[str]], parameters: dict[str, Any]
) -> Any:
    """An expectation from its entry. Raises _DefectsError."""
    if not is_mapping(entry):
        raise _DefectsError(f"a mapping with type and kwargs was expected, not {shown(entry)}")
    entry = {str(key): value for key, value in entry.items() if key not in EXPORTED}
    if unknown := [key for key in entry if key not in ENTRY]:
        raise _DefectsError(*(f"unknown key {key!r}{_nearest(key, ENTRY)}" for key in unknown))
    implementation = _implementation(entry.get("type"))
    given = entry.get("kwargs")
    kwargs: dict[str, Any] = {}
    if is_mapping(given):
        kwargs = {str(key): value for key, value in given.items()}
    elif given is not None:
        raise _DefectsError(f"kwargs: a mapping of arguments was expected, not {shown(given)}")
    if entry.get("severity", SEVERITIES[0]) not in SEVERITIES:
        raise _DefectsError(
            f"severity: one of {', '.join(SEVERITIES)} was expected, not {shown(entry['severity'])}"
        )
    if defects := unsafe_arguments(kwargs):
        raise _DefectsError(*defects)
    if implementation.expectation_type == DEMOGRAPHIC and "columns" not in kwargs:
        kwargs["columns"] = _mention_columns(kwargs.get("attribute"), mentions)
    built = _build(
        implementation, {**{key: entry[key] for key in ENTRY[2:] if key in entry}, **kwargs}
    )
    _try_parameters(built, parameters)
    return built


def _implementation(kind: Any) -> Any:
    """The class of an expectation by its name, as expect_… or Expect…. Raises _DefectsError."""
    from great_expectations.expectations import core
    from great_expectations.expectations.registry import (
        get_expectation_impl,
        list_registered_expectation_implementations,
    )
    from great_expectations.util import camel_to_snake

    if not isinstance(kind, str):
        raise _DefectsError(f"type: the name of an expectation was expected, not {shown(kind)}")
    name = kind if kind in list_registered_expectation_implementations() else camel_to_snake(kind)
    if name in {module.name for module in iter_modules(core.__path__)}:
        importlib.import_module(f"{core.__name__}.{name}")  # registers it
    elif name not in list_registered_expectation_implementations():
        whole()
    known = list_registered_expectation_implementations()
    if name in DATABASES:
        raise _DefectsError("this expectation asks a database, and a pane is none")
    if name not in known:
        near = _nearest(name, [each for each in known if each not in DATABASES])
        raise _DefectsError(f"no expectation of that name{near}")
    return get_expectation_impl(name)


def _mention_columns(attribute: Any, mentions: Mapping[str, Sequence[str]]) -> list[str]:
    """The columns of an attribute's mentions. Raises _DefectsError."""
    if attribute in mentions:
        return list(mentions[attribute])
    if attribute is None:
        raise _DefectsError(
            "kwargs.attribute: the name of an attribute is missing, or the names of columns"
        )
    known = f"known are {', '.join(mentions)}" if mentions else "none is measured"
    raise _DefectsError(
        f"kwargs.attribute: no attribute {shown(attribute)}{_nearest(str(attribute), mentions)};"
        f" {known}"
    )


def _build(implementation: Any, arguments: dict[str, Any]) -> Any:
    """An expectation from its class and arguments. Raises _DefectsError."""
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
        raise _DefectsError(*lines) from error
    except (GreatExpectationsError, TypeError, ValueError, KeyError, AttributeError) as error:
        raise _DefectsError(f"kwargs: {' '.join(str(error).split())}") from error


def _try_parameters(expectation: Any, parameters: dict[str, Any]) -> None:
    """Check that every parameter of an expectation has a value. Raises _DefectsError."""
    from great_expectations.core.suite_parameters import (
        build_suite_parameters,  # pyright: ignore[reportUnknownVariableType]
    )
    from great_expectations.exceptions.exceptions import SuiteParameterError

    try:
        build_suite_parameters(expectation.configuration.kwargs, parameters)
    except SuiteParameterError as error:
        raise _DefectsError(
            f"kwargs: {error}; values stand in the suite's suite_parameters"
        ) from error


def _columns(expectations: Sequence[Any]) -> frozenset[str] | None:
    """The columns that expectations read; None if their arguments do not say it."""
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
    """The known word that a misspelled one most likely means, as the end of a message."""
    near = get_close_matches(word.lower(), list(known), n=1, cutoff=0.5)
    return f" (did you mean {near[0]}?)" if near else ""
