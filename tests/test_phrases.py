"""Phrases and their index."""

from __future__ import annotations

import pytest

from evenflow.transforms import phrases, protection
from evenflow.transforms.phrases import Phrases
from evenflow.transforms.wordsets import words_of


def test_a_phrase_is_indexed_by_the_letters_it_may_begin_with() -> None:
    assert phrases.starts("wars?") == ["war"]
    assert phrases.starts("(?:oh|hey) man") == ["hey ", "oh "]
    assert phrases.starts("as? cat") == ["a"]
    assert phrases.starts("house ?wife") == ["house"]
    assert phrases.starts(r"\d+ cats") == [""]


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
    assert phrases.holds(phrase) == wanted


@pytest.mark.parametrize("attribute", ["gender", "age", "religion"])
def test_what_a_phrase_always_holds_is_in_what_it_matches(attribute: str) -> None:
    rules = protection._rules(attribute)
    for listed in rules.phrases._phrases.values():
        for phrase in listed:
            for said in ("wars", "the old man of the house", phrase.holds, f"{phrase.holds}s"):
                match = phrase.whole.match(said)
                assert match is None or phrase.holds in match[0].lower()


@pytest.mark.parametrize(
    ("phrase", "wanted"),
    [("s/he", ["s "]), ("al[- ]qaeda", ["al "]), ("c['’]?mon,? man", ["c ", "cmon"]), ("man[- ]?made", ["man"])],
)
def test_what_ends_a_first_word(phrase: str, wanted: list[str]) -> None:
    assert phrases.starts(phrase) == wanted


@pytest.mark.parametrize(
    ("phrase", "wanted"),
    [
        ("fall of the house", {"fall", "of", "the", "house"}),
        ("house ?wife of", {"of"}),
        ("man (?:of|in) wars?", {"man"}),
        ("one|two", set()),
        ("the bible", {"the", "bible"}),
    ],
)
def test_whole_words_that_a_phrase_needs(phrase: str, wanted: set[str]) -> None:
    assert phrases.whole_words(phrase) == wanted


@pytest.mark.parametrize(
    ("phrase", "said", "there"),
    [
        ("old wives['’]? tales?", "an old wives' tale", True),
        ("old wives['’]? tales?", "his old wife tells tales", False),
        ("c['’]?mon,? man", "oh c'mon, man", True),
        ("c['’]?mon,? man", "cmon man", True),
        ("mu?hammad", "muhammad ran", True),
        ("mu?hammad", "my hammad", False),
        ("house ?wi(?:fe|ves) of", "the housewives of", True),
        ("s/he", "s/he may", True),
    ],
)
def test_the_index_gives_what_may_match(phrase: str, said: str, there: bool) -> None:
    index: Phrases[str] = Phrases()
    index.add(phrase, "x")
    words = words_of(said)
    possible = [each for _, begins in index.beginnings(words) for each in begins.possible(said, words)]
    assert any(each.whole.search(said) for each in possible) is there
