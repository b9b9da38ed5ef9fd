"""The steps beside the toolkits' own filters, in one run: python tests/benchmarks/steps.py

Prints MB/s of CPU of each filter of a toolkit that is installed: the median of 5 rounds, in which
all take their turn, with the slowest and the fastest. A filter is called as its toolkit calls it,
without reading, writing or processes. The texts are tests/data/speeches.jsonl.gz, cut into pieces
of 2,000 characters.
"""

from __future__ import annotations

import gzip
import json
import statistics
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from tempfile import mkdtemp
from typing import Any

SPEECHES = Path(__file__).parents[1] / "data" / "speeches.jsonl.gz"
ROUNDS, CHARACTERS, TEXTS, BATCH = 5, 2000, 500, 100

Work = Callable[[list[str]], object]


def datatrove() -> Iterator[tuple[str, Work]]:
    """Filters of datatrove over documents in memory."""
    from datatrove.data import Document
    from datatrove.pipeline.filters import (
        C4QualityFilter,
        FineWebQualityFilter,
        GopherQualityFilter,
    )

    from evenflow.datatrove import DemographicStats, RepresentationFilter

    def over(step: Any) -> Work:
        return lambda texts: list(
            step.run(iter([Document(text, str(n)) for n, text in enumerate(texts)]))
        )

    stats = DemographicStats(mkdtemp(), groups_to_compute=["summary"])
    theirs = (FineWebQualityFilter(), GopherQualityFilter(), C4QualityFilter())
    for step in (RepresentationFilter(), stats, *theirs):
        yield type(step).__name__, over(step)


def data_juicer() -> Iterator[tuple[str, Work]]:
    """Operators of data-juicer over batches."""
    from data_juicer.ops.filter.character_repetition_filter import CharacterRepetitionFilter
    from data_juicer.ops.filter.special_characters_filter import SpecialCharactersFilter
    from data_juicer.ops.filter.word_repetition_filter import WordRepetitionFilter
    from data_juicer.utils.constant import Fields

    from evenflow.juicer import DemographicRepresentationFilter

    def over(operator: Any) -> Work:
        def work(texts: list[str]) -> None:
            for first in range(0, len(texts), BATCH):
                own = texts[first : first + BATCH]
                samples = {operator.text_key: own, Fields.stats: [{} for _ in own]}
                list(operator.process_batched(operator.compute_stats_batched(samples)))

        return work

    theirs = (WordRepetitionFilter(), CharacterRepetitionFilter(), SpecialCharactersFilter())
    for operator in (DemographicRepresentationFilter(), *theirs):
        yield type(operator).__name__, over(operator)


def nemo_curator() -> Iterator[tuple[str, Work]]:
    """Filters of NeMo Curator, text by text."""
    from nemo_curator.stages.text.filters.heuristic.repetition import (
        RepeatingTopNGramsFilter,
    )
    from nemo_curator.stages.text.filters.heuristic.string import (
        NonAlphaNumericFilter,
        WordCountFilter,
    )

    from evenflow.nemo_curator import UnevenDocuments

    def over(own: Any) -> Work:
        return lambda texts: [own.keep_document(own.score_document(text)) for text in texts]

    theirs = (RepeatingTopNGramsFilter(), NonAlphaNumericFilter(), WordCountFilter())
    for own in (UnevenDocuments(), *theirs):
        yield type(own).__name__, over(own)


def main() -> None:
    """Print the table."""
    with gzip.open(SPEECHES, "rt", encoding="utf-8") as lines:
        whole = [json.loads(line)["text"] for line in lines]
    pieces = (
        each[at : at + CHARACTERS] for each in whole for at in range(0, len(each), CHARACTERS)
    )
    texts = [text for text, _ in zip(pieces, range(TEXTS), strict=False)]
    size = sum(len(text.encode()) for text in texts)
    works = {
        (toolkit.__name__, name): work
        for toolkit in (datatrove, data_juicer, nemo_curator)
        if find_spec(toolkit.__name__)
        for name, work in toolkit()
    }
    speeds: dict[tuple[str, str], list[float]] = {key: [] for key in works}
    for work in works.values():
        work(texts[:BATCH])  # what is loaded at first use
    for _ in range(ROUNDS):
        for key, work in works.items():
            began = time.process_time()
            work(texts)
            speeds[key].append(size / 1e6 / (time.process_time() - began))
    print(f"{len(texts):,} texts of {size / len(texts):,.0f} bytes; MB/s of CPU, {ROUNDS} rounds")
    for (toolkit, name), own in speeds.items():
        middle = statistics.median(own)
        print(f"{toolkit:13} {name:32} {middle:8.2f} ({min(own):.2f} to {max(own):.2f})")


if __name__ == "__main__":
    main()
