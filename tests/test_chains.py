"""Chains of items."""

from __future__ import annotations

import pytest

from evenflow.transforms.chains import Chain, of_one_story
from evenflow.transforms.sets import Item


def item(group: str, sentence: int) -> Item:
    return Item(0, 1, "x", group, "noun", sentence, None)


@pytest.mark.parametrize(
    ("said", "wanted"),
    [
        ([("islam", 0), ("islam", 1)], 1),
        ([("islam", 0), ("islam", 3)], 2),
        ([("islam", 0), ("judaism", 0), ("islam", 1)], 2),
    ],
)
def test_the_same_group_nearby_is_one_story(said: list[tuple[str, int]], wanted: int) -> None:
    assert len(of_one_story([item(*each) for each in said])) == wanted


def test_a_chain_that_takes_another_has_its_items_and_the_lower_weight() -> None:
    first, second = Chain([item("islam", 0)]), Chain([item("islam", 1)])
    second.lower(0.4, "why")
    first.take(second)
    assert len(first.items) == 2 and (first.weight, first.reason) == (0.4, "why")
    assert second.items is first.items
