"""What `evenflow explain` shows: every sentence of a text with its labels and counts.

The functions take texts and give plain data; `coloured` and `legend` draw it for a terminal.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from rich.text import Text

from evenflow.pipelines.terminal.lines import visible
from evenflow.transforms.labels.finder import Found, LabelFinder, Mention, uncut
from evenflow.transforms.text.sentences import bounds, trimmed

# One colour a group: twelve that can be told apart on black and on white, in the order in which
# lists are given.
COLOURS = (
    *("dark_orange3", "dodger_blue2", "green4", "magenta3", "red3", "dark_cyan"),
    *("gold3", "medium_purple2", "chartreuse4", "deep_pink3", "steel_blue", "orange4"),
)


def explain(identity: str, text: str, finder: LabelFinder) -> dict[str, Any]:
    """A document with EVERY sentence: sent_id, start, end, sent_text, labels, words_per_group,
    counts_per_group, relevant_sentence (main paper, 4.1).

    start and end, of sentences and of labels, are character offsets into the document's text. A
    sentence has no whitespace around it, every other character of the text is in one, and so is
    every label, whole: a bound inside a mention is none. words_per_group maps attribute -> group ->
    the labels named, counts_per_group -> how many. Any str is allowed; an empty or blank text has
    no sentence.
    """
    found = finder.find_all(text)
    mentions = sorted(
        finder.named(found), key=lambda mention: (mention.start, -mention.end, mention.attribute)
    )
    rows: list[dict[str, Any]] = []
    at = 0
    for start, end in whole_sentences(text, found):
        first = at
        while at < len(mentions) and mentions[at].start < end:
            at += 1
        rows.append(
            {"sent_id": len(rows), "start": start, "end": end, "sent_text": text[start:end]}
        )
        rows[-1] |= _named(mentions[first:at], finder)
    return {"id": identity, "text": text, "sentences": rows}


def whole_sentences(text: str, found: Sequence[Found]) -> list[tuple[int, int]]:
    """Start and end of each sentence without the whitespace around it, no mention cut in two."""
    return trimmed(text, uncut(bounds(text), found).tolist())


def explain_lines(lines: Iterable[bytes], finder: LabelFinder) -> Iterator[dict[str, Any]]:
    """The documents of JSON lines, one by one as `explain` gives them; blank lines are passed over.

    A line is an object with a text and, if it has one, an id: text or a whole number. Else the id
    is its line's number. For a line that is none: {"line": its number from 1, "error": what is
    wrong}, and the next line is read.
    """
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            identity, text = _document(line, number)
        except UnusableLine as error:
            yield {"line": number, "error": str(error)}
        else:
            yield explain(identity, text, finder)


def dumps(document: dict[str, Any], indent: int | None = None) -> str:
    """JSON in ASCII: valid wherever it is written, whatever the text (a lone surrogate becomes its
    escape).
    """
    return json.dumps(document, ensure_ascii=True, allow_nan=False, indent=indent)


def coloured(document: dict[str, Any], finder: LabelFinder) -> Text:
    """The document for a terminal: its groups' colours, then a sentence a line.

    A label has its group's colour and name; one within another (of two attributes) is underlined.
    Nothing of the text can steer the terminal, see `visible`.
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
            said = visible(document["text"][start:end])
            if here:
                style = styles[here[-1]["attribute"], here[-1]["group"]]
                out.append(said, style=f"{style} underline" if len(here) > 1 else style)
            else:
                out.append(said)
            ended = [label["group"] for label in reversed(here) if label["end"] == end]
            if ended:
                out.append(f"[{','.join(ended)}]", style="dim")
        out.append("\n")
    return out


def legend(finder: LabelFinder) -> Text:
    """One line: each attribute with its groups in their colours."""
    out = Text()
    styles = _styles(finder)
    for words in finder.lists:
        out.append(f"{words.attribute}: ", style="dim")
        for group in words.groups:
            out.append(group, style=styles[words.attribute, group])
            out.append("  ")
    out.append("\n")
    return out


class UnusableLine(ValueError):
    """A line that is no document."""


def _document(line: bytes, number: int) -> tuple[str, str]:
    """Id and text of a line; raises UnusableLine."""
    try:
        record = json.loads(line.decode("utf-8-sig" if number == 1 else "utf-8"))
    except UnicodeDecodeError as error:
        raise UnusableLine(f"invalid UTF-8 at byte {error.start}") from error
    except json.JSONDecodeError as error:
        raise UnusableLine(f"not JSON: {error.msg} at character {error.pos}") from error
    # A number of thousands of digits, thousands of nested lists
    except (ValueError, RecursionError) as error:
        raise UnusableLine(f"JSON that is not read: {error}") from error
    if not isinstance(record, dict):
        raise UnusableLine(f'an object with "id" and "text" was expected, not {_type(record)}')
    if "text" not in record:
        raise UnusableLine('"text" is missing')
    identity, text = record.get("id"), record["text"]
    if not isinstance(text, str):
        raise UnusableLine(f'"text" is {_type(text)}; text was expected')
    if isinstance(identity, bool) or not isinstance(identity, str | int | None):
        raise UnusableLine(f'"id" is {_type(identity)}; text or a whole number was expected')
    return str(number) if identity in (None, "") else str(identity), text


def _type(value: object) -> str:
    """A JSON value's type in JSON's words."""
    if value is None:
        return "null"
    names = {dict: "an object", list: "an array", str: "text", bool: "true or false"}
    return names.get(type(value), "a number")


def _named(mentions: list[Mention], finder: LabelFinder) -> dict[str, Any]:
    """What a sentence names."""
    words: dict[str, dict[str, list[str]]]
    words = {each.attribute: {group: [] for group in each.groups} for each in finder.lists}
    for mention in mentions:
        words[mention.attribute][mention.group].append(mention.label)
    return {
        "labels": [
            {
                "start": mention.start,
                "end": mention.end,
                "label": mention.label,
                "attribute": mention.attribute,
                "group": mention.group,
            }
            for mention in mentions
        ],
        "words_per_group": words,
        "counts_per_group": {
            attribute: {group: len(said) for group, said in groups.items()}
            for attribute, groups in words.items()
        },
        "relevant_sentence": bool(mentions),
    }


def _styles(finder: LabelFinder) -> dict[tuple[str, str], str]:
    """A colour a group; lists of more groups than there are colours use them in reverse video next."""
    groups = [(words.attribute, group) for words in finder.lists for group in words.groups]
    return {
        group: (
            f"bold {COLOURS[number % len(COLOURS)]}"
            + (" reverse" if number >= len(COLOURS) else "")
        )
        for number, group in enumerate(groups)
    }
