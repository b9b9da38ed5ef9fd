"""What `evenflow explain` shows: every sentence of a text with its labels and counts."""

from __future__ import annotations

from typing import Any

from rich.text import Text

from evenflow.transforms.labels import LabelFinder
from evenflow.transforms.sentences import sentences

COLOURS = ("magenta", "cyan", "yellow", "green", "red", "blue")


def explain(identity: str, text: str, finder: LabelFinder) -> dict[str, Any]:
    """A document with EVERY sentence: sent_id, start, end (character offsets), sent_text, labels, counts, relevant_sentence.

    counts_per_group maps attribute -> group -> number; words_per_group maps attribute -> group -> the labels named.
    """
    mentions = sorted(finder.find(text), key=lambda mention: (mention.start, mention.attribute))
    rows = []
    at = 0
    for number, (start, end) in enumerate(sentences(text)):
        labels = []
        while at < len(mentions) and mentions[at].start < end:
            labels.append(mentions[at])
            at += 1
        words: dict[str, dict[str, list[str]]] = {
            words.attribute: {group: [] for group in words.groups} for words in finder.lists
        }
        for mention in labels:
            words[mention.attribute][mention.group].append(mention.label)
        rows.append(
            {
                "sent_id": number,
                "start": start,
                "end": end,
                "sent_text": text[start:end],
                "labels": [
                    {
                        "start": mention.start,
                        "end": mention.end,
                        "label": mention.label,
                        "attribute": mention.attribute,
                        "group": mention.group,
                    }
                    for mention in labels
                ],
                "words_per_group": words,
                "counts_per_group": {
                    attribute: {group: len(said) for group, said in groups.items()} for attribute, groups in words.items()
                },
                "relevant_sentence": bool(labels),
            }
        )
    return {"id": identity, "text": text, "sentences": rows}


def coloured(document: dict[str, Any], finder: LabelFinder) -> Text:
    """The document for a terminal: a sentence a line, labels coloured by group. Control characters are made visible."""
    colours = {
        (words.attribute, group): COLOURS[number % len(COLOURS)]
        for words in finder.lists
        for number, group in enumerate(words.groups)
    }
    out = Text()
    for row in document["sentences"]:
        out.append(f"{row['sent_id']:>4}  ", style="dim")
        at = row["start"]
        for label in row["labels"]:
            if label["start"] < at:
                continue
            out.append(visible(document["text"][at : label["start"]]))
            style = f"bold {colours[label['attribute'], label['group']]}"
            out.append(visible(document["text"][label["start"] : label["end"]]), style=style)
            out.append(f"[{label['attribute']}:{label['group']}]", style="dim")
            at = label["end"]
        out.append(visible(document["text"][at : row["end"]]) + "\n")
    return out


def visible(text: str) -> str:
    """Text that cannot steer a terminal: line breaks as blanks, other unprintable characters as escapes."""
    return "".join(c if c.isprintable() else " " if c in "\n\r\t" else f"\\u{ord(c):04x}" for c in text)
