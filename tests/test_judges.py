"""The judge: the embedded one, and another in its place."""

from __future__ import annotations

from evenflow.transforms.counterfactuals import rewrite
from evenflow.transforms.substitution.judges import Chosen, Embedded, Place
from evenflow.wordlists import loader

GENDER = loader.load("gender")


def test_a_word_said_twice_is_judged_low() -> None:
    judge = Embedded()
    assert judge.judge_substitution("I gave him his book.", "I gave her her book.") == 1.0
    assert judge.judge_substitution("I gave him her book.", "I gave her her book.") < 0.5
    assert judge.judge_substitution("I saw him.", "I saw her.") == 1
    assert judge.choose_counterpart(Place("x", 0, 1, [])).word is None


class Refuses(Embedded):
    """Finds no word for «nun»."""

    def choose_counterpart(self, place: Place) -> Chosen:
        return Chosen(None) if place.word == "nun" else super().choose_counterpart(place)


def test_another_judge_decides() -> None:
    assert rewrite("A nun met my sister.", [GENDER], "gender", judge=Refuses()).text == "A nun met my brother."
