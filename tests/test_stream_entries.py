"""Entries of a stream's ledger: as a list would give them, with the last one alone in memory."""

from __future__ import annotations

import gc
import weakref
from pathlib import Path

import pytest
from pane_entries import pane_entry

from evenflow.gates.ledger import LedgerError, read_entries, write_entry
from evenflow.pipelines.stream_entries import Entries
from evenflow.schemas.ledger import PaneEntry


def entry(pane: int) -> PaneEntry:
    return pane_entry(pane, documents=pane)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    (tmp_path / "ledger").mkdir()
    for pane in range(3):
        write_entry(tmp_path, entry(pane))
    return tmp_path


def test_they_are_those_of_a_list(root: Path) -> None:
    entries, wanted = Entries(root, read_entries(root)), read_entries(root)
    for pane in (3, 4):
        write_entry(root, entry(pane))
        entries.append(entry(pane))
        wanted.append(entry(pane))
    assert len(entries) == 5 and list(entries) == wanted
    assert [entries[index] for index in (0, 4, -1, -5)] == [wanted[index] for index in (0, 4, -1, -5)]
    assert entries[1:] == wanted[1:] and entries[::-2] == wanted[::-2] and entries[9:] == []
    with pytest.raises(IndexError):
        entries[5]


def test_none_are_false(tmp_path: Path) -> None:
    entries = Entries(tmp_path, [])
    assert not entries and list(entries) == []
    entries.append(entry(0))
    assert entries and entries[-1] == entry(0)


def test_only_the_last_is_held(root: Path) -> None:
    entries = Entries(root, read_entries(root))
    one, two = entry(3), entry(4)
    held = [weakref.ref(one), weakref.ref(two)]
    for each in (one, two):
        entries.append(each)
    del one, two, each
    gc.collect()
    assert held[0]() is None and held[1]() is not None


def test_an_entry_that_is_gone_is_said(root: Path) -> None:
    entries = Entries(root, read_entries(root))
    (root / "ledger" / "00000001.json").unlink()
    with pytest.raises((LedgerError, OSError)):
        entries[1]
