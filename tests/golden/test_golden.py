"""A small run of each mode gives what is on record: to the byte on the same kind of machine, to
four digits with the same instructions, and with others all that was decided.
"""

from __future__ import annotations

from pathlib import Path

from golden.record import OTHER, differences, numbers_apart, of_files, runs


def test_files_give_what_is_on_record(tmp_path: Path) -> None:
    assert differences("files", runs(of_files, tmp_path)) == []


def test_numbers_are_compared_within_a_tolerance() -> None:
    assert numbers_apart("0.002170645 1 nan", "0.002170643 1.000001 nan") == []
    assert numbers_apart("0.5 2", "0.501 2") == ["number 0 was 0.5 and is 0.501"]
    assert numbers_apart("1 2", "1") == ["number 1 was 2 and is nan"]
    assert numbers_apart("0.5 0 30", "0.54 0.04 32.5", OTHER) == []
    assert numbers_apart("0.5 0 30", "0.5 0.06 30", OTHER) != []
    assert numbers_apart("1", "nan") == ["number 0 was 1 and is nan"]
