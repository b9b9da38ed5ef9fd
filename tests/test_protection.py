"""The rules of what is left alone."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenflow.transforms import protection


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


def test_a_phrase_is_indexed_by_the_letters_it_may_begin_with() -> None:
    assert protection._starts("wars?") == ["war"]
    assert protection._starts("(?:oh|hey) man") == ["hey ", "oh "]
    assert protection._starts("as? cat") == ["a"]
    assert protection._starts("house ?wife") == ["house"]
    assert protection._starts(r"\d+ cats") == [""]


@pytest.mark.parametrize(
    ("phrase", "wanted"),
    [
        ("wars?", "war"),
        ("man['’]?s best friend", "s best friend"),
        ("(?:oh|hey),? man(?! up)", " man"),
        ("house ?(?:wi(?:fe|ves)|maid) of", "house"),
        ("one|two", ""),
        (r"\bmen\w+", "men"),
    ],
)
def test_what_a_phrase_always_holds(phrase: str, wanted: str) -> None:
    assert protection._holds(phrase) == wanted


@pytest.mark.parametrize("attribute", ["gender", "age", "religion"])
def test_what_a_phrase_always_holds_is_in_what_it_matches(attribute: str) -> None:
    rules = protection._rules(attribute)
    for phrases in rules._phrases.values():
        for phrase in phrases:
            for said in ("wars", "the old man of the house", phrase.holds, f"{phrase.holds}s"):
                match = phrase.whole.match(said)
                assert match is None or phrase.holds in match[0].lower()
