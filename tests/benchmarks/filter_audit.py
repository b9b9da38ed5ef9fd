"""What datatrove's quality filters keep and remove: python tests/benchmarks/filter_audit.py OUT.

Writes the texts of tests/data/documents.jsonl.gz to OUT/FILTER/kept.jsonl and removed.jsonl, for
`evenflow compare --by source`. Needs `pip install 'evenflow[datatrove]' spacy`.
"""

from __future__ import annotations

import gzip
import json
import sys
from pathlib import Path

from datatrove.data import Document
from datatrove.pipeline.filters import C4QualityFilter, FineWebQualityFilter, GopherQualityFilter

DOCUMENTS = Path(__file__).parents[1] / "data" / "documents.jsonl.gz"


def main() -> None:
    """Run the filters one by one, each on all texts as they are."""
    with gzip.open(DOCUMENTS, "rt", encoding="utf-8") as lines:
        rows = [row for row in map(json.loads, lines) if row.get("text")]
    for own in (GopherQualityFilter(), C4QualityFilter(), FineWebQualityFilter()):
        folder = Path(sys.argv[1]) / type(own).__name__.removesuffix("QualityFilter").lower()
        folder.mkdir(parents=True, exist_ok=True)
        removed = 0
        with (folder / "kept.jsonl").open("w") as kept, (folder / "removed.jsonl").open("w") as out:
            for row in rows:
                keeps = own.filter(Document(row["text"], row["id"])) is True
                removed += not keeps
                record = {"id": str(row["number"]), "source": row["source"], "text": row["text"]}
                (kept if keeps else out).write(json.dumps(record) + "\n")
        print(f"{folder}: {removed:,} of {len(rows):,} removed")


if __name__ == "__main__":
    main()
