"""Named people."""

from __future__ import annotations

import pytest

from evenflow.transforms import people


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("Mary lost it.", [("Mary", "f")]),
        ("Then Tom Smith met Anna in Paris.", [("Tom Smith", "m"), ("Anna", "f")]),
        ("Dr. Jones arrived.", [("Jones", "e")]),
        ("Queen Elizabeth smiled.", [("Elizabeth", "f")]),
        ("We met Barack Obama there.", [("Barack Obama", "e")]),
        ("The Harvard University team won in May.", []),
        ("Will it rain?", []),
        ("I asked Will.", [("Will", "m")]),
        ("On Monday the French left.", []),
        ("According to Brandt, it rained.", [("Brandt", "e")]),
        ("Zorvane released a song.", [("Zorvane", "e")]),
        ("Police said so.", []),
        ("Shall I go?", []),
    ],
)
def test_names_are_found_with_their_sex(text: str, wanted: list[tuple[str, str]]) -> None:
    assert [(text[each.start : each.end], each.sex) for each in people.named(text, 0, len(text), False)] == wanted


def test_names_in_a_text_without_capitals() -> None:
    text = "then mary met a man and hope was lost"
    assert [text[each.start : each.end] for each in people.named(text, 0, len(text), True)] == ["mary"]


@pytest.mark.parametrize(("word", "person"), [("engineers", True), ("neighbor's", True), ("mice", False), ("voice", False)])
def test_nouns_that_name_people(word: str, person: bool) -> None:
    assert people.is_person_noun(word) is person


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("The new engineer met a doctor.", [0, 21]),
        ("The man met his dog.", []),
        ("The man who is an engineer left.", [15]),
        ("This very old tall engineer left.", []),
    ],
)
def test_people_who_are_named_by_a_noun(text: str, starts: list[int]) -> None:
    assert people.without_name(text, 0, len(text)) == starts


def test_what_may_name_somebody() -> None:
    assert people.may_name_somebody(frozenset(("then", "mary", "left")))
    assert people.may_name_somebody(frozenset(("obama", "left")))
    assert not people.may_name_somebody(frozenset(("hope", "left")))


def test_a_name_after_much_space() -> None:
    text = "The end." + " " * 30 + "Nobody knew" + " " * 30 + "Elif waters the plants."
    assert all(text[person.start : person.end] != "" for person in people.named(text, 0, len(text), False))
