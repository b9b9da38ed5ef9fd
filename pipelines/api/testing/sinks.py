"""Tests of sinks: tables that accepted panes are appended to (evenflow.sinks)."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

import pyarrow as pa
import pytest

from evenflow.pipelines.accepted.sinks import PANE, Table
from evenflow.schemas.plugins import SINKS, load

ODD = ["", 'it\'s "so"; --', "e\u0301 \U0001f469\u200d\U0001f4bb\n\x00"]


class SinkTests:
    """Tests of a sink, for a class whose name begins with Test.

    Attributes:
        sink: The plug-in's name, or its place (MODULE:NAME).
    """

    sink: ClassVar[str]

    def place(self, folder: Path) -> str:
        """A place for a table that is not there yet; by default a path in a folder of the test."""
        return str(folder / "table")

    def rows(self, place: str) -> list[dict[str, Any]]:
        """The rows of a table, read as its users read it."""
        raise NotImplementedError

    def opened(self, place: str, output: str = "first", **more: pa.DataType) -> Table:
        """A table, opened by a plug-in that was loaded anew."""
        load.cache_clear()
        return load(SINKS, self.sink).part.open(place, output, _schema(more))

    def test_panes_are_there_whole_and_once(self, tmp_path: Path) -> None:
        """What was appended can be read, and who opens the table again sees which panes it has."""
        place = self.place(tmp_path)
        for pane in (0, 2):
            assert pane not in self.opened(place).panes()
            self.opened(place).append(pane, _rows(pane), {"evenflow.pane": str(pane)})
        assert self.opened(place).panes() == {0, 2}
        found = sorted((row[PANE], row["text"]) for row in self.rows(place))
        assert found == sorted((pane, text) for pane in (0, 2) for text in ODD)

    def test_a_pane_is_taken_out(self, tmp_path: Path) -> None:
        """Its rows go, the others stay, and it can be appended again."""
        place = self.place(tmp_path)
        table = self.opened(place)
        for pane in (0, 1):
            table.append(pane, _rows(pane), {})
        table.remove(0)
        assert self.opened(place).panes() == {1}
        assert [row[PANE] for row in self.rows(place)] == [1] * len(ODD)
        self.opened(place).append(0, _rows(0), {})
        assert self.opened(place).panes() == {0, 1}

    def test_later_panes_may_have_more_columns(self, tmp_path: Path) -> None:
        """A column that is new is null in earlier rows."""
        place = self.place(tmp_path)
        self.opened(place).append(0, _rows(0), {})
        table = self.opened(place, length=pa.int64())
        table.append(1, _rows(1, length=pa.int64()), {})
        found = {(row[PANE], row.get("length")) for row in self.rows(place)}
        assert found == {(0, None), *((1, len(text)) for text in ODD)}

    def test_a_table_of_another_output_is_refused(self, tmp_path: Path) -> None:
        """A ValueError says so, before anything is written."""
        place = self.place(tmp_path)
        self.opened(place).append(0, _rows(0), {})
        with pytest.raises(ValueError):
            self.opened(place, "second")
        assert len(self.rows(place)) == len(ODD)


def _schema(more: dict[str, pa.DataType]) -> pa.Schema:
    """The columns of rows."""
    return pa.schema({"text": pa.string(), **more, PANE: pa.int64()})


def _rows(pane: int, **more: pa.DataType) -> pa.Table:
    """The rows of a pane."""
    extra = {name: list(map(len, ODD)) for name in more}
    return pa.table({"text": ODD, **extra, PANE: [pane] * len(ODD)}, schema=_schema(more))
