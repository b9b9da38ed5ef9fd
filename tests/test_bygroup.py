"""Items of lists without pronouns."""

from __future__ import annotations

import pytest

from evenflow.transforms import roles
from evenflow.transforms.bygroup import ByGroup
from evenflow.transforms.labels import LabelFinder
from evenflow.transforms.wordsets import WordSets
from evenflow.wordlists import loader


@pytest.mark.parametrize(
    ("attribute", "text", "wanted"),
    [
        ("religion", "The Hindu priest smiled.", [("hindu", "hinduism", True), ("priest", "hinduism", True)]),
        ("religion", "The priest met a Christian.", [("priest", "christianity", True), ("christian", "christianity", True)]),
        ("religion", "The non-Muslim students left.", [("muslim", "islam", False)]),
        ("age", "A retiree volunteers there.", [("retiree", "old", True)]),
        ("age", "The child actors left.", [("child", "young", False)]),
        ("age", "The teenager's phone rang.", [("teenager", "young", True)]),
        ("age", "The child's play.", [("child", "young", False)]),
    ],
)
def test_what_may_change(attribute: str, text: str, wanted: list[tuple[str, str, bool]]) -> None:
    words = loader.load(attribute)
    whole = [(0, len(text))]
    items = ByGroup(words, roles.of(words)).items(text, whole, LabelFinder([words]).find(text), WordSets(text, whole))
    assert [(item.word, item.group, item.weight >= 0.5) for item in items] == wanted
