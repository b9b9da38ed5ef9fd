"""Custom expectations on what every shard must hold: columns of the right kinds, and the mentions
that the ledger records.
"""

from __future__ import annotations

from typing import Any, ClassVar

import pandas as pd

from evenflow.gates.expectations.frame import TYPES
from evenflow.gates.expectations.stated import FrameMetric, StatedExpectation

DEFECTS = "table.column_defects"
SUMS = "table.column_sums"


class ColumnDefects(FrameMetric):
    """What is wrong with some columns, a phrase each."""

    metric_name = DEFECTS
    value_keys = ("texts", "counts")

    @classmethod
    def value(cls, frame: Any, arguments: dict[str, Any]) -> list[str]:
        kinds: dict[str, str] = frame.attrs.get(TYPES) or _kinds(frame)
        defects: list[str] = []
        for wanted, columns in (("text", arguments["texts"]), ("integer", arguments["counts"])):
            for column in columns:
                if column not in kinds:
                    defects.append(f"{column} is missing")
                elif kinds[column] != wanted:
                    defects.append(f"{column} holds {kinds[column]}, not {wanted}")
                elif wanted == "integer":
                    defects += _count_defects(column, frame[column])
        return defects


def _kinds(frame: pd.DataFrame) -> dict[str, str]:
    """What a frame's columns hold, where the shards' types are not at hand."""
    found = {
        str(name): pd.api.types.infer_dtype(frame[name], skipna=True) for name in frame.columns
    }
    return {
        name: {"string": "text", "empty": "text"}.get(kind, kind) for name, kind in found.items()
    }


def _count_defects(column: str, values: Any) -> list[str]:
    if values.isna().any():
        return [f"{column} has nulls"]
    return [f"{column} is negative"] if len(values) and values.min() < 0 else []


class ExpectColumnsToHoldTextsAndCounts(StatedExpectation):
    """Expect some columns to be there and to hold text, others to hold whole numbers from 0 on,
    without nulls.

    Columns that are not named may hold anything. texts, counts: names of columns.
    """

    texts: list[str]
    counts: list[str]

    metric_dependencies: ClassVar[tuple[str, ...]] = (DEFECTS,)
    success_keys: ClassVar[tuple[str, ...]] = ("texts", "counts")
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def judged(self, seen: Any) -> dict[str, Any]:
        return {"success": not seen, "result": {"observed_value": seen}}

    @classmethod
    def sentence(cls, kwargs: dict[str, Any]) -> tuple[str, dict[str, str]]:
        template = (
            "The columns $texts must be there and hold text, $counts whole numbers from 0 on;"
            " others may hold anything."
        )
        return template, {
            "texts": ", ".join(kwargs["texts"]),
            "counts": ", ".join(kwargs["counts"]),
        }

    @classmethod
    def words(cls, result: dict[str, Any]) -> str:
        return "; ".join(result.get("observed_value") or ["as expected"])


class ColumnSums(FrameMetric):
    """Sums of the columns that the argument names; None for one that is missing or holds no
    integers.
    """

    metric_name = SUMS
    value_keys = ("sums",)

    @classmethod
    def value(cls, frame: Any, arguments: dict[str, Any]) -> dict[str, int | None]:
        return {
            name: (
                int(frame[name].sum())
                if name in frame and pd.api.types.is_integer_dtype(frame[name])
                else None
            )
            for name in arguments["sums"]
        }


class ExpectColumnSumsToEqual(StatedExpectation):
    """Expect integer columns to add up to given sums, the mentions that the ledger records. sums:
    column -> its sum.
    """

    sums: dict[str, Any]  # integers, or {"$PARAMETER": NAME} where they are given with each pane

    metric_dependencies: ClassVar[tuple[str, ...]] = (SUMS,)
    success_keys: ClassVar[tuple[str, ...]] = ("sums",)
    args_keys: ClassVar[tuple[str, ...]] = success_keys

    def judged(self, seen: Any) -> dict[str, Any]:
        off = [
            f"{name} {_shown(seen[name])}, not {wanted}"
            for name, wanted in self.sums.items()
            if seen[name] != wanted
        ]
        return {"success": not off, "result": {"observed_value": off}}

    @classmethod
    def sentence(cls, kwargs: dict[str, Any]) -> tuple[str, dict[str, str]]:
        template = "The mentions in the shards must add up to those that the ledger records: $sums."
        sums = kwargs["sums"]
        given = {} if "$PARAMETER" in sums else sums
        return template, {
            "sums": ", ".join(f"{name} {wanted}" for name, wanted in given.items()) or "as counted"
        }

    @classmethod
    def words(cls, result: dict[str, Any]) -> str:
        return "; ".join(result.get("observed_value") or ["as recorded"])


def _shown(total: int | None) -> str:
    return "has no sum" if total is None else f"adds up to {total}"
