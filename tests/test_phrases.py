"""Phrases and their index."""

from __future__ import annotations

import pytest

from evenflow.transforms.substitution import phrases, protection
from evenflow.transforms.substitution.phrases import Phrases
from evenflow.transforms.substitution.wordsets import words_of


def test_a_phrase_is_indexed_by_the_letters_it_may_begin_with() -> None:
    assert phrases.starts("wars?") == ["war"]
    assert phrases.options("(?:oh|hey) man") == ["oh man", "hey man"]
    assert phrases.starts("oh man") == ["oh "]
    assert phrases.starts("as? cat") == ["a"]
    assert phrases.starts("house ?wife") == ["house"]
    assert phrases.starts(r"\d+ cats") == [""]


@pytest.mark.parametrize("phrase", [r"\d+ cats", "(?:cat|dog(?:s|gies)) house"])
def test_a_phrase_that_begins_with_no_letters_is_refused(phrase: str) -> None:
    with pytest.raises(ValueError, match="letters were expected"):
        Phrases[str]().add(phrase, "rule")


@pytest.mark.parametrize(
    ("phrase", "wanted"),
    [
        ("wars?", ("war",)),
        ("man['’]?s best friend", ("s best friend", "man")),
        ("oh,? man(?! up)", (" man", "oh")),
        ("house ?(?:wi(?:fe|ves)|maid) of", ("house", " of")),
        ("he-m[ae]n", ("he-m", "n")),
        ("one|two", ()),
        (r"\bmen\w+", ("men",)),
        (r"the men['’]s(?= (?:is|was|are (?:out|closed))\b|[.,;?])", ("the men", "s")),
    ],
)
def test_what_a_phrase_always_holds(phrase: str, wanted: tuple[str, ...]) -> None:
    assert phrases.holds(phrase) == wanted


@pytest.mark.parametrize(
    ("phrase", "wanted"),
    [
        ("men (?:are|is) (?:not |never )?(?:allowed|banned)", {"allowed", "banned"}),
        ("man['’]?s (?:rights?|right to)", {"right", "rights"}),
        ("you (?:guys|all)(?=[.!]|$)", {"guys", "all"}),
        ("the (?:dark|old-world) arts", {"dark", "old"}),
        ("men (?:dress\\w*|veils)", set()),  # no whole words
        ("the (?:old|young)er man", set()),
        ("the (?:old|young)(?=er)er man", set()),
        ("the un(?:known|named) man", set()),
        ("the (?:old |poor )?man", set()),
        ("the (?:so )?(?:old|poor) man", {"old", "poor"}),
        ("the (?:so)?(?:old|poor) man", set()),
        ("men (?:am|are)", set()),  # too short
        ("one (?:man|boy)|two", set()),
    ],
)
def test_words_of_which_a_phrase_has_one(phrase: str, wanted: set[str]) -> None:
    assert phrases.one_of(phrase) == wanted


@pytest.mark.parametrize("attribute", ["gender", "age", "religion"])
def test_what_a_phrase_always_holds_is_in_what_it_matches(attribute: str) -> None:
    every = protection._rules(attribute).phrases.every
    assert len(every) > 400
    for phrase in every:
        for said in ("wars", "the old man of the house", *phrase.holds, *(f"{holds}s" for holds in phrase.holds)):
            match = phrase.whole.match(said)
            assert match is None or phrase.may_be_in(match[0].lower(), words_of(match[0]))


@pytest.mark.parametrize(
    ("phrase", "wanted"),
    [
        ("s/he", ["s "]),
        ("al[- ]qaeda", ["al "]),
        ("c['’]?mon,? man", ["c ", "cmon"]),
        ("man[- ]?made", ["man"]),
        ("he-m[ae]n", ["he "]),
        ("man-?made", ["man"]),
    ],
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
    possible = index.possible(said, words_of(said))
    assert any(phrase.whole.search(said) for *_, phrase in possible) is there
