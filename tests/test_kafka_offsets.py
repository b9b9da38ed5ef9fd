"""The number of a pane beside a group's offset, and the comparison with the ledger."""

from __future__ import annotations

import pytest

from evenflow.transforms.streaming.kafka_offsets import Committed, Difference, compare, note, noted


@pytest.mark.parametrize(
    ("text", "pane"), [(note(0), 0), (note(12), 12), ("", None), (None, None), ("by hand", None), ("evenflow pane -1", None)]
)
def test_what_is_written_beside_an_offset(text: str | None, pane: int | None) -> None:
    assert noted(text) == pane


def test_what_agrees_is_not_reported() -> None:
    assert compare({("t", 0): 5}, {("t", 0): Committed(5, 1)}) == []


def test_differences_come_in_the_order_of_partitions() -> None:
    found = compare({("t", 10): 5, ("t", 2): 5}, {("a", 0): Committed(1, None), ("t", 2): Committed(6, 1)})
    assert found == [Difference("a", 0, None, 1), Difference("t", 2, 5, 6), Difference("t", 10, 5, None)]
