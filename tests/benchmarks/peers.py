"""What other tools do on the same file, as whole processes: python tests/benchmarks/peers.py
copy|sentences INPUT OUTPUT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def datatrove(source: Path, output: Path) -> None:
    """Read and write JSONL with datatrove."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    reader = JsonlReader(str(source.parent), glob_pattern=source.name)
    writer = JsonlWriter(str(output), compression=None)
    LocalPipelineExecutor([reader, writer], logging_dir=str(output / "logs")).run()


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
    else:
        datatrove(Path(sys.argv[2]), Path(sys.argv[3]))
