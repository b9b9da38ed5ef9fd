"""Names and numbers of a generated sentence that were not given."""

from __future__ import annotations

import pytest

from evenflow.schemas.config import Config
from evenflow.transforms.lab.generation.support import Support
from evenflow.transforms.labels.finder import LabelFinder

LISTS = Config().word_lists()


@pytest.mark.parametrize(
    ("text", "known", "found"),
    [
        ("Two women met a Muslim at noon.", [], []),
        ("Then I saw that I’m late.", [], []),
        ("She met Lenin in 1917.", [], ["Lenin", "1917"]),
        ("She met Lenin’s aunt.", ["Vladimir Lenin"], []),
        ("Congress met, and so did the women of Lyon.", [], ["Lyon"]),
        ("Alice wept.", [], ["Alice"]),
        ("He said: “The door is shut.”", [], []),
    ],
)
def test_names_and_numbers_have_to_be_given(text: str, known: list[str], found: list[str]) -> None:
    usual = [f"We ask Congress for {word}." for word in ("a", "b", "c", "d", "e")]
    assert Support(LabelFinder(LISTS), usual).unsupported(text, known) == found


def test_labels_names_and_numbers_are_masked() -> None:
    own = Support(LabelFinder(LISTS))
    masked = own.masked("My sister met Ada at 7.")
    assert masked == own.masked("My brother met Bo at 9.") == "My _ met _ at _."
