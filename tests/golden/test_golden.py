"""A small run of each mode gives what is on record, to the byte on the same kind of machine."""

from __future__ import annotations

from pathlib import Path

from golden.record import differences, of_files, runs


def test_files_give_what_is_on_record(tmp_path: Path) -> None:
    assert differences("files", runs(of_files, tmp_path)) == []
