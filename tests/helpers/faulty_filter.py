"""Writes two deliveries of one corpus: one as it is, one that went through a faulty filter.

    python tests/helpers/faulty_filter.py FOLDER

FOLDER/before.jsonl holds half of the documents of `documents.jsonl.gz`, FOLDER/now.jsonl the other
half. There the second half of the documents of `chat` have lost each sentence that a word for women
stands in.
"""

from __future__ import annotations

import gzip
import json
import re
import sys
from pathlib import Path

from places import DATA

WOMEN = re.compile(
    r"\b(she|hers?|herself|wom[ae]n|girls?|daughters?|mothers?|wi(fe|ves)|lad(y|ies)|sisters?|females?)\b",
    re.I,
)
BOUNDS = re.compile(r"(?<=[.!?])\s+|\n")


def main(folder: Path) -> None:
    """Write both files."""
    folder.mkdir(parents=True, exist_ok=True)
    with gzip.open(DATA / "documents.jsonl.gz", "rt", encoding="utf-8") as rows:
        documents = [row for row in map(json.loads, rows) if row.get("text")]
    before, now = documents[::2], documents[1::2]
    chat = [row for row in now if row["source"] == "chat"]
    for row in chat[len(chat) // 2 :]:
        kept = [part for part in BOUNDS.split(row["text"]) if not WOMEN.search(part)]
        row["text"] = " ".join(kept)
    for name, half in (("before", before), ("now", now)):
        with (folder / f"{name}.jsonl").open("w", encoding="utf-8") as out:
            for row in half:
                line = {"id": str(row["number"]), "source": row["source"], "text": row["text"]}
                out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
