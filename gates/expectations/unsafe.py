"""Refuses arguments of expectations that would run code or fetch something.

A user's suite is data. Great Expectations would run some arguments as code, and would fetch others
from elsewhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenflow.schemas.guards import is_list, is_mapping

# Parsers of conditions that only parse; “pandas” runs code
PARSERS = ("great_expectations", "great_expectations__experimental__")


def unsafe_arguments(kwargs: Mapping[str, Any]) -> list[str]:
    """Find the arguments that would run code or fetch something."""
    return [*_conditions(kwargs), *_references(kwargs)]


def shown(value: object) -> str:
    """A value in a message, cut short."""
    text = "nothing" if value is None else repr(value)
    return text if len(text) <= 60 else f"{text[:60]}…"


def _conditions(kwargs: Mapping[str, Any]) -> list[str]:
    """Defects of a condition on rows: pandas runs a condition that is text as code."""
    condition, parser = kwargs.get("row_condition"), kwargs.get("condition_parser")
    if parser is not None and parser not in PARSERS:
        return [
            f"kwargs.condition_parser: {PARSERS[0]} was expected, not {shown(parser)}, which would"
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
    if is_list(condition):
        return [defect for each in condition for defect in _structured(each)]
    if not is_mapping(condition):
        return []
    if condition.get("type") == "pass_through" or "pass_through_filter" in condition:
        return ["pass_through would run text as code"]
    column = condition.get("column")
    name = column.get("name") if is_mapping(column) else column
    defects = (
        [f"column {shown(name)}: a backtick cannot be quoted"]
        if isinstance(name, str) and "`" in name
        else []
    )
    return defects + _structured(condition.get("conditions"))


def _references(value: Any) -> list[str]:
    """References of JSON schemas to other places, which would be fetched."""
    if is_list(value):
        return [defect for each in value for defect in _references(each)]
    if not is_mapping(value):
        return []
    own = [
        f"kwargs: {key} refers to {shown(target)}; a schema may refer to itself alone, as in '#/…'"
        for key in ("$ref", "$dynamicRef", "$recursiveRef")
        if isinstance(target := value.get(key), str) and not target.startswith("#")
    ]
    return own + [defect for each in value.values() for defect in _references(each)]
