"""The documents that benchmarks and trials write to a topic: pieces of the test data's speeches,
one JSON object each.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path

SPEECHES = Path(__file__).resolve().parents[1] / "data" / "speeches.jsonl.gz"
DOCUMENT_BYTES = 3700  # 15 MB/s at 4,000 documents a second
PARTITIONS = 4


def values() -> Iterator[bytes]:
    """JSON objects with an id and about DOCUMENT_BYTES of text, without an end.

    The texts repeat, the ids do not.
    """
    raw = gzip.decompress(SPEECHES.read_bytes())
    text = "\n".join(json.loads(line)["text"] for line in raw.splitlines())
    pieces = [
        text[i : i + DOCUMENT_BYTES] for i in range(0, len(text) - DOCUMENT_BYTES, DOCUMENT_BYTES)
    ]
    number = 0
    while True:
        yield json.dumps(
            {"id": str(number), "text": pieces[number % len(pieces)]}, ensure_ascii=False
        ).encode()
        number += 1
