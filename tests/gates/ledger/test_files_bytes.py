"""Tests of evenflow.gates.ledger.files.entry_bytes."""

import pytest
from pane_entries import pane_entry

from evenflow.gates.ledger.files import canonical, entry_bytes
from evenflow.schemas.ledger import Position, SourceRange, StreamPane

RANGES = [SourceRange(file="kafka:t/0", first=0, last=4), SourceRange(file="b", first=1, last=1)]
STREAM = StreamPane(span=0, part=0, positions={"0": Position(next=5, time=7)})


@pytest.mark.parametrize("stream", [None, STREAM])
def test_the_bytes_are_those_of_the_whole_record(stream: StreamPane | None) -> None:
    entry = pane_entry(0, source=RANGES).model_copy(update={"stream": stream})
    assert entry_bytes(entry) == canonical(entry.model_dump())
