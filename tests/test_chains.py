"""Chains of items."""

from __future__ import annotations

import pytest

from evenflow.transforms.labels import Mention
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.chains import Chain, of_one_story
from evenflow.transforms.substitution.sets import Item


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


@pytest.mark.parametrize(("particular", "wanted"), [(False, 2), (True, 1)])
def test_a_barred_neighbour_holds_back_only_certain_people(particular: bool, wanted: int) -> None:
    first, second = item("islam", 0), item("islam", 1)
    first.lower(0.1, sets.HISTORY)
    first.particular = second.particular = particular
    assert len(of_one_story([first, second])) == wanted


def test_an_adjective_that_falls_away_stays_with_its_noun() -> None:
    first = Item(0, 9, "youthful", "young", "adjective", 0, Mention(0, 9, "youthful", "age", "young"), gap=10)
    second = Item(10, 18, "teenager", "young", "noun", 0, Mention(10, 18, "teenager", "age", "young"))
    second.lower(0.1, sets.SENSE)
    assert len(of_one_story([first, second])) == 1


@pytest.mark.parametrize(("reason", "wanted"), [(sets.NAMED, 2), (sets.HISTORY, 1)])
def test_a_name_is_nobody_of_the_group(reason: str, wanted: int) -> None:
    name = Item(0, 1, "christian", "islam", "noun", 0, Mention(0, 1, "christian", "religion", "islam"))
    name.lower(0.1, reason)
    assert len(of_one_story([name, item("islam", 0)])) == wanted
