"""Figures of Adult and FairFace, against pandas: every pattern grouped, no lattice of ours."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

from evenflow.schemas.threshold import Threshold
from evenflow.transforms.measures.coverage.mups import Coverage
from evenflow.transforms.measures.coverage.table import MISSING, Missing, Table

DATA = Path(__file__).parents[3] / "data" / "coverage"
Named = frozenset[tuple[str, str]]


def by_pandas(frame: pd.DataFrame, attributes: list[str], share: float) -> dict[Named, int]:
    """MUPs and their counts: group by every set of attributes, look at every set of values."""
    limit = share * frame["records"].sum()
    counts: dict[Named, int] = {frozenset(): int(frame["records"].sum())}
    for size in range(1, len(attributes) + 1):
        for chosen in map(list, combinations(attributes, size)):
            every = pd.MultiIndex.from_product(
                [sorted(frame[name].dropna().unique()) for name in chosen], names=chosen
            )
            summed = frame.groupby(chosen)["records"].sum()
            if size == 1:
                summed.index = pd.MultiIndex.from_arrays([summed.index], names=chosen)
            for values, count in summed.reindex(every, fill_value=0).items():
                counts[frozenset(zip(chosen, values, strict=True))] = int(count)
    return {
        pattern: count
        for pattern, count in counts.items()
        if count < limit and all(counts[pattern - {one}] >= limit for one in pattern)
    }


@pytest.mark.parametrize(("name", "rows"), [("adult", 48_842), ("fairface", 97_698)])
@pytest.mark.parametrize("missing", ["open", "value", "drop"])
@pytest.mark.parametrize("share", [0.001, 0.01, 0.1])
def test_gaps_of_known_tables(name: str, rows: int, missing: Missing, share: float) -> None:
    frame = pd.read_csv(DATA / f"{name}.csv", dtype=str).astype({"records": int})
    assert frame["records"].sum() == rows
    attributes = [column for column in frame.columns if column != "records"]
    repeated = frame.loc[frame.index.repeat(frame["records"]), attributes]
    columns = {each: pa.array(repeated[each], pa.string(), from_pandas=True) for each in attributes}
    table = Table.of_columns(columns, missing)
    if missing == "value":
        frame = frame.fillna(MISSING)
    elif missing == "drop":
        frame = frame.dropna()
    coverage = Coverage(table, Threshold.parse(str(share)))
    codes = coverage.mups()
    found = {
        frozenset(
            (attribute, values[digit])
            for attribute, values, digit in zip(attributes, table.values, row, strict=True)
            if digit < len(values)
        ): count
        for row, count in zip(
            table.lattice.decode(codes).tolist(), coverage.count(codes).tolist(), strict=True
        )
    }
    expected = by_pandas(frame, attributes, share)
    assert expected and found == expected


def test_probabilities_count_as_they_are() -> None:
    columns = {"a": pa.array(["x", "y", "x"]), "b": pa.array(["p", "p", None])}
    table = Table.of_columns(columns, weights=np.array([0.25, 0.75, 0.5]))
    assert table.total == 1.5 and table.squares == 0.25**2 + 0.75**2 + 0.5**2
    coverage = Coverage(table, Threshold.parse("1"))
    code = table.lattice.encode(np.array([[0, 1], [2, 0]]))
    assert coverage.count(code).tolist() == [0.75, 1.0]
