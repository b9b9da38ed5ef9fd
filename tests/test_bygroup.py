"""Items of lists without pronouns."""

from __future__ import annotations

import pytest

from evenflow.transforms.labels import LabelFinder
from evenflow.transforms.substitution import roles
from evenflow.transforms.substitution.bygroup import ByGroup
from evenflow.transforms.substitution.wordsets import WordSets
from evenflow.wordlists import loader


@pytest.mark.parametrize(
    ("attribute", "text", "wanted"),
    [
        ("religion", "The Hindu priest smiled.", [("hindu", "hinduism", True), ("priest", "hinduism", True)]),
        ("religion", "The priest met a Christian.", [("priest", "christianity", True), ("christian", "christianity", True)]),
        ("religion", "The non-Muslim students left.", [("muslim", "islam", False)]),
        ("religion", "Sunni and Shia cooks met.", [("sunni", "islam", False), ("shia", "islam", False)]),
        ("religion", "Haredi and Hasidic cooks met.", [("haredi", "judaism", True), ("hasidic", "judaism", True)]),
        ("religion", "the anti-muslim posters of ben zwuck", [("muslim", "islam", False)]),
        ("religion", "their anti-muslim posters", [("muslim", "islam", True)]),
        ("religion", "She is charming as Christian, a baker.", [("christian", "christianity", False)]),
        ("religion", "She identifies as Christian, he said.", [("christian", "christianity", True)]),
        ("age", "Children annoy him.", [("children", "young", True)]),
        ("age", "Children are asexual.", [("children", "young", False)]),
        ("age", "A child waved.", [("child", "young", True)]),
        ("age", "We saw a child there.", [("child", "young", True)]),
        ("age", "A youth arts project opened.", [("youth", "young", False)]),
        ("age", "The poor and the elderly protest.", [("elderly", "old", False)]),
        ("age", "That is bad among children there.", [("children", "young", False)]),
        ("age", "Youths rescue a dog.", [("youths", "young", True)]),
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
