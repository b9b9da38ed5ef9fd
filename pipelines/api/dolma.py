"""Attributes for dolma: the spans of mentions and their counts, beside the documents.

dolma keeps documents in `documents/**.jsonl.gz` and what is said of them in
`attributes/NAME/**.jsonl.gz`, files of the same names with a line for each document, in its order.
Its mixer filters by them. They are written here without dolma, which asks for older tokenizers than
Evenflow does.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import orjson

from evenflow.annotator import Annotation, Annotator
from evenflow.schemas.errors import EvenflowError
from evenflow.settings import Configuration

PREFIX = "evenflow"


class DolmaError(EvenflowError):
    """There are no documents, or a line is none."""


def write_attributes(
    documents: str | Path,
    output: str | Path,
    config: Configuration = None,
    attributes: Sequence[str] = (),
) -> int:
    """Write the attributes of all documents.

    A group's spans are `evenflow__gender__female`, each [start, end, 1.0] in characters; its count
    is the score of one span over the text, `evenflow__gender__female_count`.

    Args:
        documents: The folder `documents`.
        output: The folder `attributes/NAME`; a file that is there is replaced.
        config: As for `evenflow.measure`.
        attributes: Which attributes are measured; none: those of the configuration.

    Returns:
        How many documents there are.

    Raises:
        DolmaError: There are no documents, or a line is no document with id and text.
        ConfigError: The configuration cannot be used.
    """
    annotator, folder, total = Annotator(config, attributes=attributes), Path(documents), 0
    paths = sorted(folder.rglob("*.gz"))
    if not paths:
        raise DolmaError(f"{folder}: no file *.jsonl.gz below it")
    for path in paths:
        target = Path(output) / path.relative_to(folder)
        target.parent.mkdir(parents=True, exist_ok=True)
        unfinished = target.with_name(f".{target.name}.part")
        with unfinished.open("wb") as raw, gzip.GzipFile("", "wb", fileobj=raw, mtime=0) as out:
            for identity, found in _annotated(path, annotator):
                row = {"id": identity, "attributes": dict(_spans(found))}
                out.write(orjson.dumps(row, option=orjson.OPT_APPEND_NEWLINE))
                total += 1
        unfinished.replace(target)
    return total


def _annotated(path: Path, annotator: Annotator) -> Iterator[tuple[str, Annotation]]:
    """The documents of a file, annotated."""
    try:
        with gzip.open(path) as lines:
            for number, line in enumerate(lines, 1):
                try:
                    row: Any = orjson.loads(line)
                    yield row["id"], annotator.annotate(row["text"])
                except (EvenflowError, ValueError, KeyError, TypeError) as error:
                    raise DolmaError(
                        f"{path}: line {number}: no document with id and text"
                    ) from error
    except (OSError, EOFError, zlib.error) as error:
        raise DolmaError(f"{path}: cannot be read to its end: {error}") from error


def _spans(found: Annotation) -> Iterator[tuple[str, list[list[float]]]]:
    """The names of a document's attributes with their spans."""
    for attribute, counts in found.counts.items():
        for group, count in counts.items():
            name = f"{PREFIX}__{attribute}__{group}"
            own = [m for m in found.mentions if (m.attribute, m.group) == (attribute, group)]
            yield name, [[each.start, each.end, 1.0] for each in own]
            yield f"{name}_count", [[0, len(found.text), float(count)]]
