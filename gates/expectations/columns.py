"""Expectations on a shard's columns: their types, and their sums, which the ledger records."""

from __future__ import annotations

from typing import Any, ClassVar

import pandas as pd

from evenflow.gates.expectations.base import FrameMetric, StatedExpectation

DEFECTS = "table.column_defects"
SUMS = "table.column_sums"


class ColumnDefects(FrameMetric):
    """What is wrong with some columns, one phrase for each defect."""

    metric_name = DEFECTS
    value_keys = ("texts", "counts")

    @classmethod
    def value(cls, frame: Any, arguments: dict[str, Any]) -> list[str]:
        """Find the defects; the arguments are those of the expectation."""
        kinds: dict[str, str] = frame.__dict__.get("kinds") or _kinds(frame)
        defects: list[str] = []
        for wanted, columns in (("text", arguments["texts"]), ("integer", arguments["counts"])):
            for column in columns:
                if column not in kinds:
                    defects.append(f"{column} is missing")
                elif kinds[column] != wanted:
                    defects.append(f"{column} holds {kinds[column]}, not {wanted}")
                elif wanted == "integer":
                    defects += _count_defects(column, frame[column].to_numpy())
        return defects


def _kinds(frame: pd.DataFrame) -> dict[str, str]:
    """What a frame's columns hold, for a frame that did not come from shards."""
    found: dict[str, str] = {
        str(name): pd.api.types.infer_dtype(frame[name], skipna=True) for name in frame.columns
    }
    return {
        name: {"string": "text", "empty": "text"}.get(kind, kind) for name, kind in found.items()
    }


def _count_defects(column: str, values: Any) -> list[str]:
    """What is wrong with a column of counts; arrays take a fraction of a series' time."""
    if pd.isna(values).any():
        return [f"{column} has nulls"]
    return [f"{column} is negative"] if (values < 0).any() else []


class ExpectColumnsToHoldTextsAndCounts(StatedExpectation):
    """Expect columns of text, and columns of whole numbers from 0 on without nulls.

    Other columns may hold anything.
    """

    texts: list[str]
    counts: list[str]

    metric_dependencies: ClassVar[tuple[str, ...]] = (DEFECTS,)
    success_keys: ClassVar[tuple[str, ...]] = ("texts", "counts")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def judge(self, value: Any) -> dict[str, Any]:
        """It holds if there is no defect."""
        return {"success": not value, "result": {"observed_value": value}}

    @classmethod
    def describe_result(cls, result: dict[str, Any]) -> str:
        """The defects."""
        return "; ".join(result.get("observed_value") or ["as expected"])


class ColumnSums(FrameMetric):
    """Sums of all columns of integers."""

    metric_name = SUMS

    @classmethod
    def value(cls, frame: Any, arguments: dict[str, Any]) -> dict[str, int]:
        """Sum the columns."""
        kinds = frame.dtypes.items()
        return {
            name: int(frame[name].to_numpy().sum()) for name, is_of in kinds if is_of.kind in "iu"
        }


class ExpectColumnSumsToEqual(StatedExpectation):
    """Expect integer columns to add up to given sums: the mentions that the ledger records.

    `sums`: Sum of each column, or {"$PARAMETER": NAME} if each pane has its own.
    """

    sums: dict[str, Any]

    metric_dependencies: ClassVar[tuple[str, ...]] = (SUMS,)
    success_keys: ClassVar[tuple[str, ...]] = ("sums",)
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def judge(self, value: Any) -> dict[str, Any]:
        """It holds if every sum is the given one."""
        off = [
            f"{name} {_total(value.get(name))}, not {wanted}"
            for name, wanted in self.sums.items()
            if value.get(name) != wanted
        ]
        return {"success": not off, "result": {"observed_value": off}}

    @classmethod
    def describe_result(cls, result: dict[str, Any]) -> str:
        """The sums that differ."""
        return "; ".join(result.get("observed_value") or ["as recorded"])


def _total(total: int | None) -> str:
    """A sum in words."""
    return "has no sum" if total is None else f"adds up to {total}"
