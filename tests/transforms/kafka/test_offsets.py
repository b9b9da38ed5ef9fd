"""A group's offsets beside the ledger's."""

from __future__ import annotations

from evenflow.transforms.kafka.offsets import Difference, compare


def test_what_agrees_is_not_reported() -> None:
    assert compare({("t", 0): 5}, {("t", 0): 5}) == []


def test_differences_come_in_the_order_of_partitions() -> None:
    found = compare({("t", 10): 5, ("t", 2): 5}, {("a", 0): 1, ("t", 2): 6})
    assert found == [
        Difference("a", 0, None, 1),
        Difference("t", 2, 5, 6),
        Difference("t", 10, 5, None),
    ]
