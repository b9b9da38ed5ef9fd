"""Checks of a pane's sentence table: the frame that is checked, and the expectations on it.

The frame does not hold the texts. What the checks need of a text is computed one row group at a
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

from evenflow.schemas.documents import STAYS

NAME = "sentences"  # of the suite
LENGTH = "sent_text (characters less end - start)"
SAME = "text_cda (same as sent_text)"
# Of sure and strong stereotypes that are still in the text, but for those that say why they stay
KEPT = "strength (kept)"
PLAIN = (
    *("id", "attribute", "sent_id", "start", "end"),
    *("potential_stereotype", "strength", "score_scsc", "remove_sentence"),
)


def read(path: Path, thresholds: Mapping[str, tuple[float, float]]) -> pd.DataFrame:
    """Read the frame of a sentence table."""
    try:
        file = pq.ParquetFile(path)
        parts = [
            _frame(file.read_row_group(number), thresholds) for number in range(file.num_row_groups)
        ]
    except pa.ArrowInvalid as error:
        raise OSError(f"{path}: does not read back as it was written: {error}") from error
    return pd.concat(parts, ignore_index=True)


def _frame(table: pa.Table, thresholds: Mapping[str, tuple[float, float]]) -> pd.DataFrame:
    """The frame of one row group."""
    frame = table.select(list(PLAIN)).to_pandas()
    lengths = pc.call_function("utf8_length", [table.column("sent_text")])
    frame[LENGTH] = lengths.to_numpy() - (frame["end"] - frame["start"])
    same = pc.call_function("equal", [table.column("sent_text"), table.column("text_cda")])
    values = [True if each else None for each in same.to_pylist()]
    frame[SAME] = pd.Series(values, dtype=object)
    least, sure = (
        frame["attribute"].map({name: each[at] for name, each in thresholds.items()})
        for at in (0, 1)
    )
    figures = frame[["strength", "score_scsc"]].min(axis=1)  # without what is not there
    strong = (figures >= least) & (frame["potential_stereotype"] >= sure)
    told = table.column("linguistic_indicators")
    said = pc.call_function("match_substring", [told], pc.MatchSubstringOptions(f'"{STAYS}":"'))
    alone = ~said.fill_null(False).to_numpy()
    frame[KEPT] = frame["strength"].where(strong & ~frame["remove_sentence"] & alone)
    return frame


def expectations(expect: Any) -> list[Any]:
    """The suite's expectations."""
    return [
        expect.ExpectTableRowCountToEqual(value={"$PARAMETER": "rows"}),
        expect.ExpectColumnValuesToNotBeNull(
            column="id", description="Every sentence belongs to a document."
        ),
        expect.ExpectCompoundColumnsToBeUnique(
            column_list=["id", "attribute", "sent_id"],
            description="A sentence has one row for each attribute.",
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
            column=SAME, description="The text in text_cda differs from the sentence."
        ),
        expect.ExpectColumnValuesToBeBetween(
            column="potential_stereotype",
            min_value=0,
            max_value=1,
            description="Probabilities lie between 0 and 1.",
        ),
        expect.ExpectColumnValuesToBeBetween(
            column="strength", min_value=0, max_value=1, description="Scores lie between 0 and 1."
        ),
        expect.ExpectColumnValuesToBeNull(
            column=KEPT,
            description="No sure stereotype that is above its threshold was kept.",
        ),
    ]
