"""Which mentions are one person: text -> the words of each chain."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from person_chains import FINDERS, LISTS, chains

from evenflow.schemas.config import Config
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import sentences


def words(attribute: str, text: str) -> list[str]:
    return sorted(" ".join(item.word for item in chain) for chain in chains(attribute, text))


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("She lost her keys.", ["she her"]),
        ("The girl met a boy. He gave her his pen.", ["boy he his", "girl her"]),
        ("A nun sang. It rained. It snowed. She left.", ["nun she"]),
        ("A nun sang. It rained. It snowed. It froze. She left.", ["nun", "she"]),  # too far back
        ("Some men left. He stayed.", ["he", "men"]),
        ("A man saw his brother. He laughed.", ["man his brother he"]),  # either may be meant
        ("A nun came. Mary sang. She left.", ["nun", "she"]),
        ("A nun came. Tom sang. She left.", ["nun she"]),
        ("a nun came. norah left. she sat.", ["nun", "she"]),
        # Her own name is no other person
        ("Ms. Garcia teaches. Her pupils love her.", ["ms her her"]),
        ("She is a waitress.", ["she waitress"]),
        ("She, a waitress, left.", ["she", "waitress"]),
        ("A man came in. The man sat.", ["man man"]),
        ("A nun sang.\nThe nun left. She ate.", ["nun nun she"]),
        ("A man came in. A man sat.", ["man", "man"]),
        ("Mr. Lee came. Mr. Lee sat. Mr. Gray left.", ["mr", "mr mr"]),
        ("Women came. Women sang.", ["women women"]),
    ],
)
def test_persons_of_gender(text: str, wanted: list[str]) -> None:
    assert words("gender", text) == wanted


def test_a_set_has_one_line_where_the_reader_alone_judges() -> None:
    text = "A nun sang.\nThe nun left. She ate."
    for keys, wanted in (
        ({}, [1, 2]),
        ({"repair": {"judge": "fast"}}, [3]),
        ({"llm": {"url": "http://x/v1", "model": "m"}}, [3]),
        ({"llm": {"url": "http://x/v1", "model": "m", "substitution": "embedded"}}, [1, 2]),
    ):
        by_line = reading.joins_lines(Config.model_validate(keys))
        sets = Substituter([LISTS["gender"]], "gender", by_line=by_line).propose(
            text, sentences(text), FINDERS["gender"].find(text)
        )
        assert [len(each.mentions) for each in sets] == wanted


@pytest.mark.parametrize(
    ("attribute", "text", "wanted"),
    [
        ("religion", "The imam left. He met a Muslim.", ["imam muslim"]),
        ("religion", "The imam left.\nA Muslim came.", ["imam", "muslim"]),
        ("religion", "The imam left. It rained. A Muslim came.", ["imam", "muslim"]),
        ("religion", "The imam left. It rained. The mosque was shut.", ["imam mosque"]),
        ("religion", "A Jew and a Muslim met. The Jew left.", ["jew jew", "muslim"]),
        (
            "age",
            "The elderly left. A teenager and the retirees sang.",
            ["elderly retirees", "teenager"],
        ),
    ],
)
def test_stories_of_lists_without_pronouns(attribute: str, text: str, wanted: list[str]) -> None:
    assert words(attribute, text) == wanted


PIECES = [
    *("She", "he", "a nun", "her", "Mary", "the man", "Mr. Lee", "men", ".", "\n", "an imam"),
    *("mosque", "kids", "is a", "and"),
]


@given(st.lists(st.sampled_from(PIECES), max_size=20).map(" ".join), st.sampled_from(sorted(LISTS)))
def test_each_mention_is_in_one_chain_of_its_group(text: str, attribute: str) -> None:
    found = chains(attribute, text)
    for chain in found:
        assert [item.start for item in chain] == sorted({item.start for item in chain})
        assert len({item.group for item in chain}) == 1
    mentions = sorted(
        (item.mention for chain in found for item in chain if item.mention),
        key=lambda mention: mention.start,
    )
    assert mentions == FINDERS[attribute].find(text)
