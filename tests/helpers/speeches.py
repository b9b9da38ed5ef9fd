"""Speeches of tests/data, shortened."""

from __future__ import annotations

import gzip
import json

from places import DATA

CHARACTERS = 800  # of a text, a tenth of a speech: the rest would be read over and over


def beginnings(count: int) -> list[str]:
    """The first speeches with the beginnings of their texts, each as a line of JSON."""
    lines = gzip.decompress((DATA / "speeches.jsonl.gz").read_bytes()).splitlines()[:count]
    rows = [json.loads(line) for line in lines]
    return [json.dumps(row | {"text": row["text"][:CHARACTERS]}) for row in rows]
