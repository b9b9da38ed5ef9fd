"""The choice of a counterpart by the embedded judge, or by another."""

from __future__ import annotations

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.substitution.judges import Chosen, Embedded, Slot
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.wordlists import loader

GENDER = loader.load("gender")


class Refuses(Embedded):
    """Finds no word for “nun”."""

    def choose_counterpart(self, place: Slot) -> Chosen:
        return Chosen(None) if place.word == "nun" else super().choose_counterpart(place)


def test_the_embedded_judge_takes_the_first_word_without_a_verdict() -> None:
    assert Embedded().choose_counterpart(Slot("x", 0, 1, ["y", "z"])) == Chosen("y")
    assert Embedded().choose_counterpart(Slot("x", 0, 1, [])) == Chosen(None)
    assert Embedded().judge_substitution("I saw him.", "I saw her.") is None


def test_another_judge_decides() -> None:
    text = "A nun met my sister."
    mentions = LabelFinder([GENDER]).find(text)
    nun, sister = Substituter([GENDER], "gender", tier=Refuses()).propose(
        text, [(0, len(text))], mentions
    )
    assert not nun.edits and nun.judged and nun.reason
    assert [edit.replacement for edit in sister.edits["male"]] == ["brother"] and not sister.judged
