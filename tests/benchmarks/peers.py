"""What other tools do on the same file, as whole processes: python tests/benchmarks/peers.py
copy|parquet|search|sentences INPUT OUTPUT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def datatrove(source: Path, output: Path, to: str) -> None:
    """Read JSONL, and write JSONL or Parquet, with datatrove."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter, ParquetWriter

    reader = JsonlReader(str(source.parent), glob_pattern=source.name)
    if to == "parquet":
        writer = ParquetWriter(str(output))
    else:
        writer = JsonlWriter(str(output), compression=None)
    LocalPipelineExecutor([reader, writer], logging_dir=str(output / "logs")).run()


def search(source: Path, output: Path) -> None:
    """Count the strings of labels.txt in each document, and write Parquet.

    It does less than a measure: a label counts within a longer word too, and of no group.
    """
    import ahocorasick_rs
    import orjson
    import pyarrow as pa
    import pyarrow.parquet as pq

    labels = source.with_name("labels.txt").read_text("utf-8").splitlines()
    found = ahocorasick_rs.AhoCorasick(labels)
    with source.open("rb") as lines:
        rows = [orjson.loads(line) for line in lines]
    counts = [len(found.find_matches_as_indexes(row["text"].lower())) for row in rows]
    table = pa.Table.from_pylist(rows).append_column("mentions", pa.array(counts))
    output.mkdir()
    pq.write_table(table, output / "part.parquet", compression="zstd")


def spacy_sentences(source: Path) -> None:
    """Sentence bounds by spaCy's blank English pipeline."""
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 10**9
    with source.open(encoding="utf-8") as lines:
        found = nlp.pipe(json.loads(line)["text"] for line in lines)
        print(sum(1 for doc in found for _ in doc.sents))


if __name__ == "__main__":
    if sys.argv[1] == "sentences":
        spacy_sentences(Path(sys.argv[2]))
    elif sys.argv[1] == "search":
        search(Path(sys.argv[2]), Path(sys.argv[3]))
    else:
        datatrove(Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[1])
