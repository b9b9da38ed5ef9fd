"""Sentence bounds beside other tools: python tests/benchmarks/sentence_bounds.py
en_ewt_dev.conllu.gz …

Precision, recall and F1 over the bounds inside paragraphs, with a 95 % bootstrap interval of F1
that draws documents, and the speed of each tool in the same run, on one core, over the same
paragraphs joined by blank lines.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import blingfire
import numpy as np
import pysbd
import spacy
from numpy.typing import NDArray
from train_sentences import Paragraph, read_paragraphs

from evenflow.transforms.text.sentences import bounds

Splitter = Callable[[str], set[int]]
DRAWS = 2000
# Characters that each tool is timed on: about a second's work.
TIMED = {
    "evenflow": 40_000_000,
    "spaCy sentencizer": 400_000,
    "pysbd": 60_000,
    "blingfire": 4_000_000,
}


def evenflow_starts(text: str) -> set[int]:
    """Starts by this package, but the first."""
    return set(bounds(text)[1:].tolist())


def blingfire_starts(text: str) -> set[int]:
    """Starts by blingfire, but the first."""
    _, spans = blingfire.text_to_sentences_and_offsets(text)
    return {start for start, _ in spans[1:]}


def peers() -> Iterator[tuple[str, Splitter]]:
    """The tools, each with its defaults for English."""
    yield "evenflow", evenflow_starts
    nlp = spacy.blank("en")
    nlp.add_pipe("sentencizer")
    nlp.max_length = 10**9
    yield "spaCy sentencizer", lambda text: {sent.start_char for sent in list(nlp(text).sents)[1:]}
    segmenter = pysbd.Segmenter(language="en", clean=False, char_span=True)

    def pysbd_starts(text: str) -> set[int]:
        return {span.start for span in segmenter.segment(text)[1:]}  # pyright: ignore[reportAttributeAccessIssue]

    yield "pysbd", pysbd_starts
    yield "blingfire", blingfire_starts


def counts(paragraphs: list[Paragraph], split: Splitter) -> NDArray[np.int64]:
    """Right, said and gold bounds for each document: (documents, 3)."""
    rows: dict[str, NDArray[np.int64]] = {}
    for part in paragraphs:
        said = split(part.text)
        row = np.array([len(said & set(part.starts)), len(said), len(part.starts)], dtype=np.int64)
        rows[part.doc] = rows.get(part.doc, np.zeros(3, dtype=np.int64)) + row
    return np.stack(list(rows.values()))


def interval(rows: NDArray[np.int64]) -> tuple[float, float]:
    """95 % percentile interval of F1 over DRAWS draws of whole documents."""
    generator = np.random.default_rng(0)
    drawn = generator.integers(0, len(rows), size=(DRAWS, len(rows)))
    right, said, gold = rows[drawn].sum(axis=1).T
    low, high = np.quantile(2 * right / (said + gold), [0.025, 0.975])
    return float(low), float(high)


def speed(paragraphs: list[Paragraph], name: str, split: Splitter) -> float:
    """Millions of characters (of nearly ASCII text: MB) a second, the better of two."""
    text = "\n\n".join(part.text for part in paragraphs)
    text = ("\n\n".join([text] * (TIMED[name] // len(text) + 1)))[: TIMED[name]]
    work = bounds if name == "evenflow" else split
    seconds: list[float] = []
    for _ in range(2):
        begin = time.process_time()
        work(text)
        seconds.append(time.process_time() - begin)
    return len(text) / min(seconds) / 1e6


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("treebanks", type=Path, nargs="+", help="gzipped CoNLL-U files")
    for path in parser.parse_args().treebanks:
        paragraphs = read_paragraphs(path)
        total = sum(len(part.starts) for part in paragraphs)
        print(f"{path.name}: {len(paragraphs)} paragraphs, {total} bounds inside them")
        print(
            f"{'tool':18} {'F1':>6} {'95 % interval':>15} {'precision':>9} {'recall':>6}"
            f" {'MB/s':>7}"
        )
        for name, split in peers():
            rows = counts(paragraphs, split)
            right, said, gold = rows.sum(axis=0)
            low, high = interval(rows)
            figures = (
                f"{2 * right / (said + gold):6.3f}   {low:.3f} - {high:.3f} {right / said:9.3f}"
                f" {right / gold:6.3f}"
            )
            print(f"{name:18} {figures} {speed(paragraphs, name, split):7.2f}", flush=True)


if __name__ == "__main__":
    main()
