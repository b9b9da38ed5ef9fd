"""The marked windows of an exchange."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms.models.marking import (
    AFTER,
    BEFORE,
    LONGEST,
    MOST,
    make_windows,
    mark_changes,
)
from evenflow.transforms.substitution.sets import Edit, apply

CHANGE = re.compile(r"\[([^|\]]*)\|([^\]]*)\]")


def read_marked(text: str) -> tuple[str, list[Edit], list[tuple[int, int]]]:
    """A marked text without its marks, its edits, and its sentences that have one.

    Each sentence ends with a full stop.
    """
    edits: list[Edit] = []
    shift = 0
    for match in CHANGE.finditer(text):
        start = match.start() - shift
        edits.append(Edit(start, start + len(match[1]), match[2]))
        shift += len(match[0]) - len(match[1])
    plain = CHANGE.sub(r"\1", text)
    spans = [match.span() for match in re.finditer(r"[^.\s][^.]*\.", plain)]
    return (
        plain,
        edits,
        [(start, end) for start, end in spans if any(start <= each.start < end for each in edits)],
    )


def filler(size: int) -> str:
    return ("It rained on us again that day. " * (size // 32 + 1))[:size].rsplit(". ", 1)[0] + ". "


@pytest.mark.parametrize(
    "text",
    [
        "The [king|queen] of Spain and [his|her] sons waved.",
        "[An|A] [uncle|man] sang.",  # the article
        "A [youthful |][teenager|retiree] sang.",  # a word that falls away
        "The [ladies'|gentlemen's] hats were red.",
        "It rained. [She|He] left. It snowed.",
        "[She|He] left. It snowed a little. [She|He] came back.",
    ],
)
def test_a_short_text_is_shown_whole(text: str) -> None:
    assert make_windows(*read_marked(text)) == [text]


def test_blanks_and_line_breaks_are_single_blanks() -> None:
    plain, edits, spans = read_marked("It  rained.\n\n\t[She|He]\u00a0left. ")
    assert make_windows(plain, edits, spans) == ["It rained. [She|He] left."]


def test_context_is_whole_words_around() -> None:
    plain, edits, spans = read_marked(f"{filler(400)}[She|He] left. {filler(400)}")
    [shown] = make_windows(plain, edits, spans)
    before, after = shown.split("[She|He] left.")
    assert plain.split("She left.")[0].endswith(before) and plain.split("She left.")[1].startswith(
        after
    )
    assert BEFORE - 10 < len(before) <= BEFORE and AFTER - 10 < len(after) <= AFTER
    assert {before.split()[0], after.split()[-1]} <= set(plain.split())


def test_far_sentences_are_windows_of_their_own_up_to_a_number() -> None:
    text = filler(300).join(f"[She|He] sang song {number}. " for number in range(MOST + 2))
    shown = make_windows(*read_marked(text))
    assert [re.findall(r"song (\d)", each) for each in shown] == [
        [str(number)] for number in range(MOST)
    ]


@pytest.mark.parametrize("at", [0, 1000, 1990])
def test_of_a_long_sentence_what_is_around_its_first_change(at: int) -> None:
    words = "and went on " * 170
    place = words.index(" ", at) + 1
    plain, edits, spans = read_marked(f"{words[:place]}[she|he] {words[place:]}stopped.")
    [shown] = make_windows(plain, edits, spans)
    assert "[she|he]" in shown and len(shown) <= LONGEST + BEFORE + AFTER + len("[|he]")
    assert CHANGE.sub(r"\1", shown) in plain


def test_nothing_changed_shows_nothing() -> None:
    assert (
        make_windows("It rained.", [], []) == [] and mark_changes("It rained.", []) == "It rained."
    )


SENTENCES = st.lists(
    st.sampled_from(
        ["[She|He] sang.", "A [nun|monk] saw [her|his] dog.", "[An|A] [aunt|man] of mine left."]
    )
    | st.integers(1, 200).map(filler),
    max_size=12,
)


@given(SENTENCES)
def test_without_marks_a_window_is_of_the_old_text_or_the_new(parts: list[str]) -> None:
    plain, edits, spans = read_marked(" ".join(" ".join(parts).split()))
    changed = apply(plain, edits)
    shown = make_windows(plain, edits, spans)
    assert bool(shown) == bool(edits) and len(shown) <= MOST
    assert shown[:1] == [] or CHANGE.search(shown[0])
    for each in shown:
        assert CHANGE.sub(r"\1", each) in plain
        assert CHANGE.sub(r"\2", each) in changed
