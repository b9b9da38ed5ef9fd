"""What other tools do on the same file, as whole processes: python tests/benchmarks/peers.py
copy|c4|spacy|sentences INPUT OUTPUT
"""

from __future__ import annotations

import json
import sys
from pathlib import Path


def datatrove(source: Path, output: Path, quality: bool) -> None:
    """Read and write JSONL with datatrove, with its C4 quality filter or without."""
    from datatrove.executor import LocalPipelineExecutor
    from datatrove.pipeline.filters import C4QualityFilter
    from datatrove.pipeline.readers import JsonlReader
    from datatrove.pipeline.writers import JsonlWriter

    steps = [JsonlReader(str(source.parent), glob_pattern=source.name)]
    if quality:
        steps.append(C4QualityFilter())
    steps.append(JsonlWriter(str(output), compression=None))
    LocalPipelineExecutor(steps, logging_dir=str(output / "logs")).run()


def spacy_matcher(source: Path) -> None:
    """Sentences by spaCy's sentencizer and the gender list's labels by its PhraseMatcher."""
    import spacy
    from spacy.matcher import PhraseMatcher

    from evenflow.wordlists import loader

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 10**9
    matcher = PhraseMatcher(nlp.vocab, attr="LOWER")
    for name in loader.SHIPPED:
        matcher.add(name, [nlp.make_doc(label) for label in loader.load(name).labels])
    mentions = sentences = 0
    with source.open(encoding="utf-8") as lines:
        for doc in nlp.pipe(json.loads(line)["text"] for line in lines):
            mentions += len(matcher(doc))
            sentences += sum(1 for _ in doc.sents)
    print(mentions, sentences)


def spacy_sentences(source: Path) -> None:
    """Sentence bounds by spaCy's blank English pipeline."""
    import spacy

    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 10**9
    with source.open(encoding="utf-8") as lines:
        found = nlp.pipe(json.loads(line)["text"] for line in lines)
        print(sum(1 for doc in found for _ in doc.sents))


def main() -> None:
    """Command line."""
    job, source, output = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if job == "spacy":
        spacy_matcher(source)
    elif job == "sentences":
        spacy_sentences(source)
    else:
        datatrove(source, output, quality=job == "c4")


if __name__ == "__main__":
    main()
