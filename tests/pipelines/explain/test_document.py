"""What explain says of a text, line by line and on a terminal."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from evenflow.pipelines.explain.document import (
    bounded_lines,
    coloured,
    dumps,
    explain,
    explain_lines,
    left_out,
    legend,
)
from evenflow.pipelines.terminal.lines import visible
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.wordlists.loader import SHIPPED, WordList, load

FINDER = LabelFinder([load(name) for name in SHIPPED])
SEVERAL = WordList(
    "age", ("old", "young"), {"old man": 0, "old": 0, "kid. Now": 1}, frozenset(), {}, "", "", ""
)
LABELS = LabelFinder([SEVERAL])
WORDS = [" He", " she", "The old", "man", "kid. Now", "a-b"]
ENDS = [". ", "! ", "\n", "\n\n", "?\u2029", " \t", "\u00a0", "\u200b"]
TEXTS = st.lists(
    st.sampled_from(WORDS + ENDS) | st.characters() | st.just("\ud800"), max_size=14
).map("".join)


def test_a_document() -> None:
    text = " She paid.  The weather was fine! His great-grandmother and\u00a0her rabbi left.\n"
    document = explain("7", text, FINDER)
    assert list(document) == ["id", "text", "sentences"] and document["id"] == "7"
    first, second, third = document["sentences"]
    labels = [{"start": 1, "end": 4, "label": "she", "attribute": "gender", "group": "female"}]
    place = {"sent_id": 0, "start": 1, "end": 10, "sent_text": "She paid."}
    assert first == {**first, **place, "labels": labels, "relevant_sentence": True}
    assert first["words_per_group"]["gender"] == {"female": ["she"], "male": []}
    assert first["counts_per_group"]["age"] == {"young": 0, "middle": 0, "old": 0}
    assert len(first["counts_per_group"]["religion"]) == 5 and len(first) == 8
    assert (
        second["sent_text"] == "The weather was fine!"
        and second["labels"] == []
        and not second["relevant_sentence"]
    )
    assert [(label["label"], label["group"]) for label in third["labels"]] == [
        ("his", "male"),
        ("great-grandmother", "old"),
        ("grandmother", "female"),
        ("her", "female"),
        ("rabbi", "judaism"),
    ]
    assert third["words_per_group"]["gender"] == {"female": ["grandmother", "her"], "male": ["his"]}
    assert third["counts_per_group"]["gender"] == {"female": 2, "male": 1}
    assert [row["sent_id"] for row in document["sentences"]] == [0, 1, 2]


@pytest.mark.parametrize("text", ["", " ", "\n\n\t \u00a0\u2029", "\r\n" * 50])
def test_a_text_of_blanks_has_no_sentence(text: str) -> None:
    assert explain("x", text, FINDER) == {"id": "x", "text": text, "sentences": []}


@pytest.mark.parametrize(
    ("text", "sentences", "end"),
    [
        ("She ran. " * 10_000, 10_000, 89_999 + 1),  # whole, with the blank at its end
        ("She ran. " * 10_001, 10_000, 89_999),
        ("He saw a tree" + "e" * 100 + ". ", 1, 115),
        (f"{'She ran on and on and on and on. ' * 7943}He {'e' * 99}. ", 7943, 262_118),
        ("she " * 70_000, 1, 262_143),
        (" " * 300_000, 0, 262_144),
    ],
    ids=["most sentences", "one more", "short", "most characters", "one sentence", "blanks"],
)
def test_of_a_long_text_the_beginning_is_explained(text: str, sentences: int, end: int) -> None:
    document = explain("x", text, LABELS)
    assert (len(document["sentences"]), document["text"]) == (sentences, text[:end])
    assert document.get("left_out", 0) == len(text) - end
    said = f"the first {end:,} characters are explained, the other {len(text) - end:,} are left out"
    assert (left_out(document) or said).startswith(said)
    assert (left_out(document) is None) == (end == len(text))


def test_a_label_over_a_sentence_bound_stays_whole() -> None:
    """A bound inside a mention is none: the label is counted once, in one sentence."""
    text = "I met a kid. Now I know. It was an old\nman. Good."
    rows = explain("x", text, LABELS)["sentences"]
    assert [row["sent_text"] for row in rows] == [
        "I met a kid. Now I know.",
        "It was an old\nman.",
        "Good.",
    ]
    assert [row["counts_per_group"]["age"] for row in rows] == [
        {"old": 0, "young": 1},
        {"old": 1, "young": 0},
        {"old": 0, "young": 0},
    ]
    assert len(explain("x", text, FINDER)["sentences"]) == 4  # without the label, the bound stands


@pytest.mark.parametrize("finder", [FINDER, LABELS], ids=["shipped", "several"])
@settings(max_examples=200, deadline=None)
@given(text=TEXTS)
def test_sentences_and_labels_of_any_text(finder: LabelFinder, text: str) -> None:
    rows = explain("x", text, finder)["sentences"]
    at = 0
    for number, row in enumerate(rows):
        assert row["sent_id"] == number and row["start"] >= at
        assert not text[at : row["start"]].strip()  # what is between sentences is blank
        assert row["sent_text"] == text[row["start"] : row["end"]] == row["sent_text"].strip() != ""
        at = row["end"]
        assert row["relevant_sentence"] == bool(row["labels"])
        assert all(
            row["start"] <= label["start"] < label["end"] <= row["end"] for label in row["labels"]
        )
        for words in finder.lists:
            for group in words.groups:
                named = [each for each in row["labels"] if each["group"] == group]
                assert row["words_per_group"][words.attribute][group] == [
                    each["label"] for each in named
                ]
                assert row["counts_per_group"][words.attribute][group] == len(named)
    assert not text[at:].strip()
    listed = sorted(
        (each["start"], each["end"], each["attribute"]) for row in rows for each in row["labels"]
    )
    assert listed == sorted(
        (mention.start, mention.end, mention.attribute) for mention in finder.find(text)
    )


@settings(deadline=None)
@given(TEXTS)
def test_json_is_ascii_and_comes_back(text: str) -> None:
    document = explain(text, text, FINDER)
    written = dumps(document)
    assert written.isascii() and "\n" not in written and json.loads(written) == document
    assert json.loads(dumps(document, indent=1)) == document


def test_lines() -> None:
    lines = [
        *(b'\xef\xbb\xbf{"id": "a", "text": "She left. He stayed.", "more": {"x": [1]}}\n', b"\n"),
        *(b'{"text": "no label"}\r\n', b"  \t\n", b'{"id": 7, "text": "\\ud800 he"}\n'),
        *(b'{"id": "", "text": ""}', b'{"id": null, "text": "x"}'),
    ]
    documents = list(explain_lines(lines, FINDER))
    assert [document["id"] for document in documents] == ["a", "3", "7", "6", "7"]
    assert [len(document["sentences"]) for document in documents] == [2, 1, 1, 0, 1]
    assert documents[2]["sentences"][0]["labels"][0]["start"] == 2


@pytest.mark.parametrize(
    ("line", "error"),
    [
        (b"x", "not JSON: Expecting value at character 0"),
        (b'{"text": "x"', "not JSON: Expecting ',' delimiter at character 12"),
        (b'{"text": "x"} {}', "not JSON: Extra data at character 14"),
        (b'{"text": "\xff"}', "invalid UTF-8 at byte 10"),
        (b'{"text": "a\tb"}', "not JSON: Invalid control character at at character 11"),
        (b'["text"]', 'an object with "id" and "text" was expected, not an array'),
        (b'"text"', 'an object with "id" and "text" was expected, not text'),
        (b"null", 'an object with "id" and "text" was expected, not null'),
        (b"true", 'an object with "id" and "text" was expected, not true or false'),
        (b"1.5", 'an object with "id" and "text" was expected, not a number'),
        (b'{"id": 1}', '"text" is missing'),
        (b'{"Text": "x"}', '"text" is missing'),
        (b'{"text": null}', '"text" is null; text was expected'),
        (b'{"text": 3}', '"text" is a number; text was expected'),
        (b'{"text": ["x"]}', '"text" is an array; text was expected'),
        (b'{"text": "x", "id": {}}', '"id" is an object; text or a number was expected'),
        (b'{"text": "x", "id": true}', '"id" is true or false; text or a number was expected'),
        (b'{"text": "x", "n": ' + b"1" * 5000 + b"}", "JSON that is not read: Exceeds the limit"),
        (b'{"text": ' + b"[" * 100_000, "JSON that is not read: maximum recursion depth"),
    ],
)
def test_a_bad_line_is_told_with_its_number_and_the_next_is_read(line: bytes, error: str) -> None:
    bad, good = explain_lines([b"\n", line, b'{"text": "He"}'], FINDER)
    assert bad["line"] == 2 and bad["error"].startswith(error) and list(bad) == ["line", "error"]
    assert good["id"] == "3" and len(good["sentences"][0]["labels"]) == 1
    assert json.loads(dumps(bad)) == bad


def test_a_line_or_a_text_that_is_too_long_is_told_and_not_held(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evenflow.pipelines.explain.document.RECORD_BYTES", 3 << 20)
    rows = [
        b'{"text": "He"}\n',
        b"x" * (10 << 20) + b"\n",
        b'{"text": "%s"}\n' % (b"She " * (1 << 19)),
    ]
    lines = list(bounded_lines(io.BytesIO(b"".join(rows) + b'{"text": "It"}')))
    assert [len(line) for line in lines] == [15, (3 << 20) + 1, (2 << 20) + 13, 14]
    found = list(explain_lines(lines, FINDER, 1 << 20))
    assert [each.get("error", "") for each in found] == [
        "",
        "the line has more than 3 MiB",
        "the text has more than 1 MiB of characters (max_text_mib is 1); split it",
        "",
    ]


def test_lines_are_read_one_by_one() -> None:
    read: list[int] = []

    def lines():
        for number in range(3):
            read.append(number)
            yield b'{"text": "He"}'

    documents = explain_lines(lines(), FINDER)
    assert read == []
    next(documents)
    assert read == [0]


def test_lines_of_a_file(tmp_path: Path) -> None:
    path = tmp_path / "lines.jsonl"
    path.write_text('{"text": "a\u2028b\x85c"}\n{"text": "She"}', encoding="utf-8")
    with path.open("rb") as file:
        assert [len(document["sentences"]) for document in explain_lines(file, FINDER)] == [1, 1]


def drawn(text: str, finder: LabelFinder = FINDER) -> str:
    console = Console(file=io.StringIO(), force_terminal=True, color_system="256", width=200)
    console.print(coloured(explain("x", text, finder), finder))
    return console.file.getvalue()  # type: ignore[attr-defined]


def test_a_terminal_shows_labels_in_their_groups_colours() -> None:
    plain = coloured(
        explain("x", "She and he. The great-grandfather!\nNo one.", FINDER), FINDER
    ).plain.splitlines()
    assert plain[0].startswith("gender: female  male  age: young  middle  old  religion: buddhism")
    assert plain[1:] == [
        "   0  She[female] and he[male].",
        "   1  The great-grandfather[male,old]!",
        "   2  No one.",
    ]
    out = drawn("She and he.")
    styles = {span.style for span in legend(FINDER).spans if span.style != "dim"}
    assert len(styles) == 10  # a colour a group, each its own
    assert "\x1b[" in out and "She\x1b[0m" in out


def test_labels_of_two_attributes_from_one_start() -> None:
    other = WordList("sex", ("man", "woman"), {"old": 1}, frozenset(), {}, "", "", "")
    finder = LabelFinder([other, SEVERAL])
    document = explain("x", "An old man.", finder)
    assert [label["label"] for label in document["sentences"][0]["labels"]] == ["old man", "old"]
    assert coloured(document, finder).plain.splitlines()[1] == "   0  An old[woman] man[old]."


def test_nothing_of_a_text_steers_the_terminal() -> None:
    text = (
        "\x1b[2J\x07He\u202e said\u200b: [bold]x[/bold] \ud800\x00\x9b1m C:\\n :smile: \U000e0041"
    )
    plain = coloured(explain("x", text, FINDER), FINDER).plain
    assert (
        "\\u001b[2J\\u0007He[male]\\u202e said\\u200b: [bold]x[/bold] \\ud800\\u0000\\u009b1m C:\\n"
        " :smile:" in plain
    )
    assert "\\U000e0041" in plain
    shown = drawn(text)
    assert (
        "\x1b[2J" not in shown
        and "\x07" not in shown
        and "\u202e" not in shown
        and "\x9b" not in shown
    )
    shown.encode()  # no lone surrogate is left


@given(st.text() | st.text(st.characters(categories=["C", "Z"])))
def test_what_is_visible_is_printable(text: str) -> None:
    shown = visible(text)
    assert shown.isprintable()
    if text.isascii() and text.isprintable():
        assert shown == text
