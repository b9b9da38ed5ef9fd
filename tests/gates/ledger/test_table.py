"""The ledger as a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow.parquet as pq
import report_ledgers

from evenflow.gates.ledger import reviews, table
from evenflow.gates.ledger.files import write_meta
from evenflow.gates.ledger.history import History

if TYPE_CHECKING:
    import pytest
    from commands import Call

pytest_plugins = ["commands"]


def test_a_row_is_a_pane_and_an_attribute(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(table, "ROWS", 7)  # rows of a batch, so that there are several
    output, file = tmp_path / "out", tmp_path / "ledger.parquet"
    write_meta(output, report_ledgers.settings())
    history, entries = History(output), report_ledgers.entries(12)
    for entry in entries:
        history.commit(entry)
    [first, *_] = [each.pane for each in entries if each.folder == "accepted"]
    reviews.add(output, "reject", range(first, first + 1), "wrong source")
    ended = call("gate", "export", output, "--ledger", file)
    assert (ended.status, ended.out) == (0, f"12 panes, 24 rows: {file}\n")
    rows = pq.read_table(file).to_pylist()
    assert [(each["pane"], each["attribute"]) for each in rows] == [
        (entry.pane, name) for entry in entries for name in sorted(entry.attributes)
    ]
    for row in rows:
        entry = entries[row["pane"]]
        of = entry.attributes[row["attribute"]]
        assert row["folder"] == ("quarantine" if entry.pane == first else entry.folder)
        assert dict(row["mentions"]) == dict(zip(of.groups, of.sums.counts, strict=True))
        assert row["rolling_dr"] == of.rolling.dr and row["pane_high"] == of.pane.high
        assert (row["verdict"], row["reason"]) == (of.verdict.state, of.verdict.reason)


def test_a_file_that_is_there_stays(call: Call, tmp_path: Path) -> None:
    write_meta(tmp_path, report_ledgers.settings())
    (tmp_path / "mine.parquet").write_text("mine")
    ended = call("gate", "export", tmp_path, "--ledger", tmp_path / "mine.parquet")
    assert ended.status == 2 and (tmp_path / "mine.parquet").read_text() == "mine"


def test_a_ledger_without_a_pane_is_an_empty_table(call: Call, tmp_path: Path) -> None:
    write_meta(tmp_path, report_ledgers.settings())
    assert call("gate", "export", tmp_path, "--ledger", tmp_path / "empty.parquet").status == 0
    assert pq.read_table(tmp_path / "empty.parquet").schema.names == table.schema().names
