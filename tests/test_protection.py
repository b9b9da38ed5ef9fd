"""The rules of what is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms.substitution import protection


@pytest.mark.parametrize(
    ("text", "attribute", "reason"),
    [
        ("In 1987 she left.", "gender", "date or year"),
        ("She left on May 4.", "gender", "date or year"),
        ("The senators met.", "gender", "history or politics"),
        ("After the war he left.", "age", "history or politics"),
        ("She is pregnant.", "gender", "biology"),
        ("His beard grew.", "gender", "biology"),
        ("Women's rights matter.", "gender", "law or doctrine"),
        ("The old school way.", "age", "idiom"),
        ("Write to her@example.com now.", "gender", "code or address"),
        ("He lives at 12 King Street.", "gender", "code or address"),
        ("The Girl Scouts came.", "gender", "named work or organisation"),
        ("The cardinal rule.", "religion", "idiom"),
        ("They fast in Ramadan.", "religion", "law or doctrine"),
        ("We fast in Lent.", "religion", "law or doctrine"),
        ("She never eats pork.", "religion", "law or doctrine"),
        ("He is Jewish by birth.", "religion", "law or doctrine"),
        ("The vicar of our parish sang.", "religion", "law or doctrine"),
        ("The bishop took a pawn.", "religion", "another sense"),
        ("We watched Murder on the Orient Express.", "age", "named work or organisation"),
        ("It was when I was a teenager.", "age", "age is the point"),
        ("The plumber was retired.", "age", "age is the point"),
    ],
)
def test_a_rule_finds(text: str, attribute: str, reason: str) -> None:
    assert reason in {found.reason for found in protection.find(text, 0, len(text), attribute)}


@pytest.mark.parametrize(
    "text",
    [
        "She may leave.",
        "It cost $1900 and 2,000 people came.",
        "She is the best man for the job.",
        "They walked home.",
        "A warm day.",
    ],
)
def test_no_rule_finds(text: str) -> None:
    assert not protection.find(text, 0, len(text), "gender")


def test_a_rule_of_one_group_says_so() -> None:
    (found,) = protection.find("She is pregnant.", 0, 16, "gender")
    assert found.groups == frozenset({"female"}) and (found.start, found.end) == (0, 16)


def test_quotations_and_what_is_within() -> None:
    text = 'He said, "she left." “Yes,” I said.'
    spans = protection.quotations(text)
    assert [text[start:end] for start, end in spans] == ['"she left."', "“Yes,”"]
    assert protection.within(spans, text.index("she"), text.index("she") + 3)
    assert not protection.within(spans, 0, 2)


@settings(deadline=None)
@given(st.text(max_size=60), st.sampled_from(["gender", "age", "religion"]))
def test_any_text_is_searched(text: str, attribute: str) -> None:
    for found in protection.find(text, 0, len(text), attribute):
        assert 0 <= found.start < found.end <= len(text)
        assert 0 <= found.weight <= 1


def test_a_text_all_in_marks_quotes_nobody() -> None:
    assert not protection.quotations('"She left."')


@pytest.mark.parametrize("text", ["She lent us her cabin.", "I am no saint.", "The advent of cheap phones.", "A Shia cook."])
def test_no_rule_of_religion_finds(text: str) -> None:
    assert not protection.find(text, 0, len(text), "religion")


@pytest.mark.parametrize("attribute", ["gender", "age", "religion"])
def test_every_pattern_says_what_a_sentence_must_have(attribute: str) -> None:
    patterns = protection._rules(attribute).patterns
    assert patterns
    assert all(pattern.needs for pattern in patterns)
