"""The judge that takes the first stage at its word."""

from __future__ import annotations

from dataclasses import replace

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.substitution.judges import Asked, ByFirstStage, Judged
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.wordlists import loader


def test_the_first_stage_gives_the_probability_of_each_set() -> None:
    words, text = loader.load("gender"), "A nun met a king."
    own = Substituter([words], "gender").propose(
        text, [(0, len(text))], LabelFinder([words]).find(text)
    )
    own = [replace(each, confidence=0.1 * number) for number, each in enumerate(own, 3)]
    assert list(
        ByFirstStage().exchanges([Asked(text, own, [(1, "female")]), Asked(text, own, [])])
    ) == [[Judged(0.4, "", (1,))], []]
