"""The baseline."""

from __future__ import annotations

from evenflow.transforms.substitution import base_cda
from evenflow.transforms.substitution.counterfactuals import rewrite
from evenflow.wordlists import loader

GENDER, AGE = loader.load("gender"), loader.load("age")


def test_every_label_is_exchanged_whatever_it_means() -> None:
    text = "Mary lost her keys; the lady is pregnant."
    changed = rewrite(text, [GENDER], "gender", "base").text
    assert changed.startswith("Mary lost his keys; the ") and "lady" not in changed


def test_without_pairs_any_label_of_the_target_is_drawn() -> None:
    changed = rewrite("A child left.", [AGE], "age", "base", target="old").text
    assert AGE.groups[AGE.labels[changed.removeprefix("A ").removesuffix(" left.")]] == "old"


def test_draws_repeat() -> None:
    drawn = [base_cda.draw("text", place, 7) for place in range(50)]
    assert drawn == [base_cda.draw("text", place, 7) for place in range(50)]
    assert set(drawn) == set(range(7))
