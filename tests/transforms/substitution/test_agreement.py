"""Capitals and articles."""

from __future__ import annotations

import pytest

from evenflow.transforms.substitution.agreement import (
    edit_article,
    fit_possessive,
    recase,
    starts_with_vowel_sound,
)


@pytest.mark.parametrize(
    ("original", "canonical", "replacement", "wanted"),
    [
        ("Her", "her", "his", "His"),
        ("HER", "her", "his", "HIS"),
        ("her", "her", "his", "his"),
        ("Mother-In-Law", "mother-in-law", "father-in-law", "Father-In-Law"),
        ("Mother-in-law", "mother-in-law", "father-in-law", "Father-in-law"),
        ("Christian", "Christian", "Muslim", "Muslim"),
        ("christian", "Christian", "Muslim", "muslim"),
        ("Church", "church", "mosque", "Mosque"),
        ("church", "church", "Torah", "Torah"),
        ("BIBLE", "Bible", "Quran", "QURAN"),
    ],
)
def test_capitals(original: str, canonical: str, replacement: str, wanted: str) -> None:
    assert recase(original, canonical, replacement) == wanted


@pytest.mark.parametrize(
    ("word", "vowel"),
    [
        ("heiress", True),
        ("hero", False),
        ("uncle", True),
        ("uniform", False),
        ("European", False),
        ("actor", True),
        ("one", False),
    ],
)
def test_the_sound_of_a_word(word: str, vowel: bool) -> None:
    assert starts_with_vowel_sound(word) is vowel


@pytest.mark.parametrize(
    ("text", "original", "replacement", "wanted"),
    [
        ("an uncle", "uncle", "niece", (0, 2, "a")),
        ("A nephew", "nephew", "aunt", (0, 1, "An")),
        ("An aunt", "aunt", "man", (0, 2, "A")),
        ("a man", "man", "woman", None),
        ("the uncle", "uncle", "niece", None),
        ("banana uncle", "uncle", "niece", None),
    ],
)
def test_the_article_follows_the_new_word(
    text: str, original: str, replacement: str, wanted: tuple[int, int, str] | None
) -> None:
    assert edit_article(text, text.index(original), original, replacement) == wanted


@pytest.mark.parametrize(
    ("text", "original", "replacement", "wanted"),
    [
        ("ladies' hats", "ladies", "gentlemen", "gentlemen's"),
        ("gentlemen's hats", "gentlemen", "ladies", "ladies'"),
        ("actress' role", "actress", "actor", "actor's"),
        ("boys' hats", "boys", "girls", "girls"),
        ("man's hat", "man", "woman", "woman"),
        ("LADIES' HATS", "LADIES", "GENTLEMEN", "GENTLEMEN'S"),
        ("LADIES' hats", "LADIES", "GENTLEMEN", "GENTLEMEN'S"),
        ("the ladies' He left", "the ladies", "the gentlemen", "the gentlemen"),
    ],
)
def test_the_possessive_of_the_new_word(
    text: str, original: str, replacement: str, wanted: str
) -> None:
    assert fit_possessive(text, len(original), original, replacement)[1] == wanted
