"""Explains a document: every sentence of a text with its labels and counts.

The functions take texts and give plain data. `coloured` and `legend` draw it for a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any, BinaryIO

from rich.text import Text

from evenflow.pipelines.terminal.lines import visible
from evenflow.transforms.io.files import RECORD_BYTES
from evenflow.transforms.labels.finder import Found, LabelFinder, Mention
from evenflow.transforms.labels.searched import by_sentence, sentence_starts, words_per_group
from evenflow.transforms.text.sentences import trimmed

# One colour a group, in the order of the lists: twelve that differ visibly on black and on white
COLOURS = (
    *("dark_orange3", "dodger_blue2", "green4", "magenta3", "red3", "dark_cyan"),
    *("gold3", "medium_purple2", "chartreuse4", "deep_pink3", "steel_blue", "orange4"),
)
# What is explained of a text. A sentence with its reasons takes some 36 kB of memory.
SHOWN_CHARACTERS = 1 << 18
SHOWN_SENTENCES = 10_000


def explain(identity: str, text: str, finder: LabelFinder) -> dict[str, Any]:
    """Split a document into sentences, each with what it names (main paper, 4.1).

    All offsets are characters of the document's text. A sentence has no whitespace around it.
    Every other character of the text is in a sentence. A label is whole in its sentence: a bound
    inside a mention is none. Of a long text the beginning is explained: its first SHOWN_SENTENCES
    sentences within SHOWN_CHARACTERS.

    Args:
        text: Any text; an empty or blank one has no sentence.

    Returns:
        id, text, left_out (only of a long text: how many of its characters are not in "text"), and
        sentences: of each sentence sent_id, start, end, sent_text, labels,
        words_per_group (attribute to group to the labels named), counts_per_group (attribute to
        group to how many) and relevant_sentence (whether it names a label).
    """
    size, text = len(text), _beginning(text, finder)
    found = finder.find_all(text)
    sentences = whole_sentences(text, found)
    grouped = by_sentence(sentences, finder.named(found))
    rows = [
        {"sent_id": number, "start": start, "end": end, "sent_text": text[start:end]}
        | _named(grouped.get(number, {}), finder)
        for number, (start, end) in enumerate(sentences)
    ]
    left_out = {"left_out": size - len(text)} if len(text) < size else {}
    return {"id": identity, "text": text, **left_out, "sentences": rows}


def whole_sentences(text: str, found: Sequence[Found]) -> list[tuple[int, int]]:
    """Find the sentences of a text; none cuts a mention in two.

    Returns:
        Start and end of each sentence, without the whitespace around it.
    """
    return trimmed(text, sentence_starts(text, found).tolist())


def _beginning(text: str, finder: LabelFinder) -> str:
    """What is explained of a text: whole sentences, where it is cut."""
    if len(text) <= SHOWN_SENTENCES:  # a sentence has a character or more
        return text
    part = text[:SHOWN_CHARACTERS]
    sentences = whole_sentences(part, finder.find_all(part))
    is_cut = len(part) < len(text)
    if len(sentences) > 1 and is_cut:
        sentences.pop()  # perhaps it goes on behind the cut
    if not sentences or (not is_cut and len(sentences) <= SHOWN_SENTENCES):
        return part
    return part[: sentences[:SHOWN_SENTENCES][-1][1]]


def left_out(document: Mapping[str, Any]) -> str | None:
    """Say that a part of a text is not explained; None where all of it is."""
    if "left_out" not in document:
        return None
    return (
        f"the first {len(document['text']):,} characters are explained, the other"
        f" {document['left_out']:,} are left out; split the text to see them"
    )


def too_long(text: str, most: int) -> str | None:
    """Say that a text is longer than the configuration allows; None where it is not."""
    if len(text) <= most:
        return None
    limit = most >> 20
    return f"the text has more than {limit} MiB of characters (max_text_mib is {limit}); split it"


def bounded_lines(stream: BinaryIO) -> Iterator[bytes]:
    """Read lines of a file; of one that is too long a beginning, which `explain_lines` refuses."""
    while line := stream.readline(RECORD_BYTES + 1):
        yield line
        while len(line) > RECORD_BYTES and not line.endswith(b"\n"):
            line = stream.readline(RECORD_BYTES + 1)


def explain_lines(
    lines: Iterable[bytes], finder: LabelFinder, most: int = RECORD_BYTES
) -> Iterator[dict[str, Any]]:
    """Explain the documents of JSON lines, one by one.

    A line is an object with a text and an optional id: text or a whole number. Without an id, the
    line's number is the id. Blank lines are skipped.

    `most`: Most characters of a text.

    Yields what `explain` returns; for a line that is no document {"line": its number from 1,
    "error": what is wrong}.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            identity, text = _document(line, number, most)
        except UnusableLineError as error:
            yield {"line": number, "error": str(error)}
        else:
            yield explain(identity, text, finder)


def dumps(document: dict[str, Any], indent: int | None = None) -> str:
    """Write a document as JSON in ASCII, which every encoding can hold.

    Args:
        document: What `explain` returned; a lone surrogate of its text becomes an escape.
        indent: Blanks a level; None: one line.
    """
    return json.dumps(document, ensure_ascii=True, allow_nan=False, indent=indent)


def coloured(document: dict[str, Any], finder: LabelFinder) -> Text:
    """Draw a document for a terminal: its groups' colours, then a sentence a line.

    A label has its group's colour and name. A label within another one (of two attributes) is
    underlined. Control characters of the text do not reach the terminal, see `visible`.
    """
    styles = _styles(finder)
    out = legend(finder)
    for row in document["sentences"]:
        out.append(f"{row['sent_id']:>4}  ", style="dim")
        edges = {row["start"], row["end"]}
        edges |= {label[side] for label in row["labels"] for side in ("start", "end")}
        for start, end in pairwise(sorted(edges)):
            here = [
                label for label in row["labels"] if label["start"] <= start and end <= label["end"]
            ]
            shown = visible(document["text"][start:end])
            if here:
                style = styles[here[-1]["attribute"], here[-1]["group"]]
                out.append(shown, style=f"{style} underline" if len(here) > 1 else style)
            else:
                out.append(shown)
            ended = [label["group"] for label in reversed(here) if label["end"] == end]
            if ended:
                out.append(f"[{','.join(ended)}]", style="dim")
        out.append("\n")
    return out


def legend(finder: LabelFinder) -> Text:
    """Draw one line: each attribute with its groups in their colours."""
    out = Text()
    styles = _styles(finder)
    for words in finder.lists:
        out.append(f"{words.attribute}: ", style="dim")
        for group in words.groups:
            out.append(group, style=styles[words.attribute, group])
            out.append("  ")
    out.append("\n")
    return out


class UnusableLineError(ValueError):
    """A line that is no document; the message says why."""


def _document(line: bytes, number: int, most: int) -> tuple[str, str]:
    """Id and text of a line. Raises UnusableLineError."""
    if len(line) > RECORD_BYTES:
        raise UnusableLineError(f"the line has more than {RECORD_BYTES >> 20} MiB")
    try:
        record = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        raise UnusableLineError(f"invalid UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise UnusableLineError(f"not JSON: {error.msg} at character {error.pos}") from error
    # A number of thousands of digits, thousands of nested lists
    except (ValueError, RecursionError) as error:
        raise UnusableLineError(f"JSON that is not read: {error}") from error
    if not isinstance(record, dict):
        raise UnusableLineError(f'an object with "id" and "text" was expected, not {_type(record)}')
    if "text" not in record:
        raise UnusableLineError('"text" is missing')
    identity, text = record.get("id"), record["text"]
    if not isinstance(text, str):
        raise UnusableLineError(f'"text" is {_type(text)}; text was expected')
    if reason := too_long(text, most):
        raise UnusableLineError(reason)
    if isinstance(identity, bool) or not isinstance(identity, str | int | float | None):
        raise UnusableLineError(f'"id" is {_type(identity)}; text or a number was expected')
    return str(number) if identity in (None, "") else str(identity), text


def _type(value: object) -> str:
    """A JSON value's type in JSON's words."""
    if value is None:
        return "null"
    names = {dict: "an object", list: "an array", str: "text", bool: "true or false"}
    return names.get(type(value), "a number")


def _named(mentions: Mapping[str, Sequence[Mention]], finder: LabelFinder) -> dict[str, Any]:
    """What a sentence names, from its mentions by attribute."""
    words = {
        each.attribute: words_per_group(each.groups, mentions.get(each.attribute, ()))
        for each in finder.lists
    }
    in_order = sorted(
        (mention for each in mentions.values() for mention in each),
        key=lambda mention: (mention.start, -mention.end, mention.attribute),
    )
    return {
        "labels": [
            {
                "start": mention.start,
                "end": mention.end,
                "label": mention.label,
                "attribute": mention.attribute,
                "group": mention.group,
            }
            for mention in in_order
        ],
        "words_per_group": words,
        "counts_per_group": {
            attribute: {group: len(labels) for group, labels in groups.items()}
            for attribute, groups in words.items()
        },
        "relevant_sentence": bool(mentions),
    }


def _styles(finder: LabelFinder) -> dict[tuple[str, str], str]:
    """A colour a group; where there are more groups than colours, reverse video follows."""
    groups = [(words.attribute, group) for words in finder.lists for group in words.groups]
    return {
        group: (
            f"bold {COLOURS[number % len(COLOURS)]}"
            + (" reverse" if number >= len(COLOURS) else "")
        )
        for number, group in enumerate(groups)
    }
