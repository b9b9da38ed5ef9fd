"""What a pane's table of sentences must meet: the frame that is looked at, and the expectations on
it.

Texts are not kept in the frame: what is asked of them is computed beside them, a row group at a
time.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

NAME = "sentences"  # of the suite
LENGTH = "sent_text (characters less end - start)"
SAME = "text_cda (same as sent_text)"
KEPT = "score_scsc (kept)"  # of sure and strong stereotypes that are still in the text
PLAIN = (
    "id",
    "attribute",
    "sent_id",
    "start",
    "end",
    "potential_stereotype",
    "score_scsc",
    "remove_sentence",
)


def read(path: Path, thresholds: Mapping[str, tuple[float, float]]) -> pd.DataFrame:
    """The frame of a table of sentences. Raises OSError.

    thresholds: of the attributes whose strong stereotypes are taken out: the least score_scsc and
    probability of those.
    """
    try:
        file = pq.ParquetFile(path)
        parts = [
            _frame(file.read_row_group(number), thresholds) for number in range(file.num_row_groups)
        ]
    except pa.ArrowInvalid as error:
        raise OSError(f"{path}: does not read back as it was written: {error}") from error
    return pd.concat(parts, ignore_index=True)


def _frame(table: pa.Table, thresholds: Mapping[str, tuple[float, float]]) -> pd.DataFrame:
    frame = table.select(list(PLAIN)).to_pandas()
    lengths = pc.call_function("utf8_length", [table.column("sent_text")])
    frame[LENGTH] = lengths.to_numpy() - (frame["end"] - frame["start"])
    same = pc.call_function("equal", [table.column("sent_text"), table.column("text_cda")])
    frame[SAME] = pd.Series(same.to_pylist(), dtype=object).where(lambda each: each == True, None)  # noqa: E712 (nulls too)
    least, sure = (
        frame["attribute"].map({name: each[at] for name, each in thresholds.items()})
        for at in (0, 1)
    )
    strong = (frame["score_scsc"] >= least) & (frame["potential_stereotype"] >= sure)
    frame[KEPT] = frame["score_scsc"].where(strong & ~frame["remove_sentence"])
    return frame


def expectations(expect: Any) -> list[Any]:
    """The suite's expectations; expect: great_expectations.expectations."""
    return [
        expect.ExpectTableRowCountToEqual(value={"$PARAMETER": "rows"}),
        expect.ExpectColumnValuesToNotBeNull(
            column="id", description="Every sentence belongs to a document."
        ),
        expect.ExpectCompoundColumnsToBeUnique(
            column_list=["id", "attribute", "sent_id"],
            description="A sentence has one row an attribute.",
        ),
        expect.ExpectColumnValuesToBeBetween(
            column="start", min_value=0, description="No sentence begins before its text."
        ),
        expect.ExpectColumnValuesToBeBetween(
            column=LENGTH,
            min_value=0,
            max_value=0,
            description="A sentence is as long as its offsets say.",
        ),
        expect.ExpectColumnValuesToBeNull(
            column=SAME, description="What stands in text_cda differs from the sentence."
        ),
        expect.ExpectColumnValuesToBeBetween(
            column="potential_stereotype",
            min_value=0,
            max_value=1,
            description="Probabilities lie between 0 and 1.",
        ),
        expect.ExpectColumnValuesToBeBetween(
            column="score_scsc", min_value=0, max_value=1, description="Scores lie between 0 and 1."
        ),
        expect.ExpectColumnValuesToBeNull(
            column=KEPT,
            description="No sure stereotype whose score is above its threshold was kept.",
        ),
    ]
