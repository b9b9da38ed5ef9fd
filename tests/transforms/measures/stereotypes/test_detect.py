"""The shipped detector: plain cases, bad input, and sentences without a stereotype."""

from __future__ import annotations

import json

import pytest
from places import DATA

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.stereotypes import detect, indicators
from evenflow.transforms.measures.stereotypes.masking import Span, widened
from evenflow.wordlists.loader import SHIPPED, load

FINDER = LabelFinder([widened(load(name)) for name in SHIPPED])


def spans(text: str, attribute: str) -> list[Span]:
    """The words that name groups of an attribute."""
    return [
        (each.start, each.end, each.attribute)
        for each in FINDER.find(text)
        if each.attribute == attribute
    ]


def chance(text: str, attribute: str) -> float | None:
    """The probability of a stereotype of an attribute's groups."""
    return detect.shipped().detect([text], [spans(text, attribute)])[0]


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("Women are too emotional to lead.", "gender"),
        ("black women are always angry and loud", "gender"),
        ("muslims are violent savages", "religion"),
        ("islam is a violent religion", "religion"),
        ("the jews are greedy and run the banks", "religion"),
        ("Old people are stubborn and cannot learn anything new.", "age"),
        ("teenagers are lazy and selfish", "age"),
    ],
)
def test_stereotypes_are_called(text: str, attribute: str) -> None:
    found = chance(text, attribute)
    assert found is not None and found >= detect.THRESHOLD
    [told] = indicators.shipped().indicators([text], [spans(text, attribute)])
    assert told is not None and 0 <= told.strength <= 1
    assert "what is said is good" not in told.reasons()


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("The woman bought a ticket to Leeds.", "gender"),
        ("not all muslims are terrorists", "religion"),
        ("Three children were hurt when the bus left the road.", "age"),
        ("Her mother taught physics at the school in Hull.", "gender"),
        ("In 1840 the bishop sold the house to a farmer.", "religion"),
    ],
)
def test_others_are_not(text: str, attribute: str) -> None:
    found = chance(text, attribute)
    assert found is not None and found < detect.THRESHOLD


def test_few_sentences_without_a_stereotype_are_called() -> None:
    rows = list(map(json.loads, (DATA / "not_stereotypes.jsonl").read_bytes().splitlines()))
    asked = [
        (row["text"], own) for row in rows for name in SHIPPED if (own := spans(row["text"], name))
    ]
    chances = detect.shipped().detect([text for text, _ in asked], [own for _, own in asked])
    called = sum(each is not None and each >= detect.THRESHOLD for each in chances)
    assert len(asked) > 100 and called <= 0.1 * len(asked)


@pytest.mark.parametrize(
    ("text", "judged"),
    [
        ("women " * 4000, True),
        ("x" * 20_000 + " women are bad drivers", None),
        ("WOMEN ARE TOO EMOTIONAL TO LEAD A COUNTRY", True),
        ("Die women können nicht Auto fahren, sagt der Nachbar.", False),
        ("女性は women 運転ができない", False),
        ("women", False),
        ("\x00women\ufffd \ud83d\ude00 are bad", None),
        ("women are [MASK] [SEP] bad <script>", True),
    ],
)
def test_bad_input(text: str, judged: bool | None) -> None:
    """judged: whether something can be said; None: either will do."""
    found = chance(text, "gender")
    assert found is None or 0 <= found <= 1
    assert judged is None or (found is not None) == judged
    told = indicators.shipped().indicators([text], [spans(text, "gender")])[0]
    assert (told is None) == (found is None)


def test_a_probability_does_not_depend_on_the_batch() -> None:
    texts = ["Women are bad drivers.", "The women left at nine.", "Men never listen to anybody."]
    labels = [spans(text, "gender") for text in texts]
    together = detect.shipped().detect(texts, labels)
    assert together == [
        detect.shipped().detect([text], [own])[0] for text, own in zip(texts, labels, strict=True)
    ]


def test_a_swapped_group_has_the_same_probability() -> None:
    for one, other in (
        ("Women are bad drivers.", "Men are bad drivers."),
        ("She never listens.", "He never listens."),
    ):
        assert chance(one, "gender") == chance(other, "gender")
