"""How fast words are counted, and how fast the page of a review answers.

    python tests/benchmarks/word_list_speed.py CORPUS...

The corpus is read again and again up to 100 MB of text. The words are 2,000 of the shipped vectors,
counted by document; beside it stands the label finder alone, on the same words and texts. Then the
page shows a word of a draft of 5,000 words of which two reviewers have decided all but one.
Times are of the processor, so other work on the machine does not count.
"""

from __future__ import annotations

import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import orjson
from starlette.testclient import TestClient

from evenflow.pipelines.word_review.app import application
from evenflow.schemas.config import load as configuration
from evenflow.transforms.bias_score import vectors
from evenflow.transforms.labels.finder import BETWEEN, LabelFinder, pieces
from evenflow.transforms.word_lists import corpus, proposals
from evenflow.transforms.word_lists.draft import Candidate, Draft
from evenflow.transforms.word_lists.journal import Journal
from evenflow.wordlists.loader import WordList

BYTES, WORDS, CANDIDATES, ASKED = 100_000_000, 2000, 5000, 50
HERE = "http://127.0.0.1:8091"


def peak() -> str:
    """The most memory that this process has had."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:,.0f} MiB at most"


def counting(inputs: Sequence[str]) -> None:
    """Print how fast words are counted."""
    blocks = list(corpus.texts(inputs, configuration(None, {}, (), ())))
    chosen, size = [], 0
    for block in cycle(blocks):
        chosen.append(block)
        size += sum(len(text.encode("utf-8", "replace")) for text in block)
        if size >= BYTES:
            break
    labels = proposals.Space(vectors.shipped()).words[:WORDS]
    words = WordList("w", ("all",), dict.fromkeys(labels, 0), frozenset(), {}, "", "", "")
    finder = LabelFinder([words])
    begun = time.process_time()
    for block in chosen:
        for first, last in pieces(block, corpus.PIECE):
            finder.find_all(BETWEEN.join(block[first:last]))
    alone = time.process_time() - begun
    print(f"label finder alone: {size / alone / 1e6:.1f} MB/s")
    for examples in (0, corpus.EXAMPLES):
        begun = time.process_time()
        corpus.count(chosen, [words], examples)
        spent = time.process_time() - begun
        print(f"counted, {examples} sentences a word: {size / spent / 1e6:.1f} MB/s, {peak()}")


def page(folder: Path) -> None:
    """Print how fast the page answers."""
    made = Draft(
        attribute="a",
        groups=("b", "c"),
        source="",
        licence="",
        documents=1,
        option="A",
        candidates=tuple(
            Candidate(word=f"word{n}", group="b", forms={f"word{n}": 1}, sources=("s",), order=n,
                      examples=(f"A sentence with word{n}.",) * 10)
            for n in range(CANDIDATES)
        ),
    )  # fmt: skip
    journal = Journal(made, folder / "draft.json")
    line = {"at": "2026-01-01T00:00:00+00:00", "action": "accept", "value": "b"}
    journal.path.write_bytes(
        b"".join(
            orjson.dumps({**line, "reviewer": who, "word": f"word{n}"}) + b"\n"
            for who in ("Ada", "Ben")
            for n in range(CANDIDATES - 1)
        )
    )
    client = TestClient(application(journal, "token-of-the-benchmark"), base_url=HERE)
    client.get("/?token=token-of-the-benchmark")
    form = client.get("/").text.split('name="form" value="')[1].split('"')[0]
    client.post("/who", data={"form": form, "who": "Ada"}, headers={"origin": HERE})
    times = []
    for _ in range(ASKED):
        begun = time.process_time()
        assert f"word{CANDIDATES - 1}" in client.get("/").text
        times.append(1000 * (time.process_time() - begun))
    worst = max(times)
    print(
        f"page of {CANDIDATES:,} words: median {statistics.median(times):.0f} ms, {worst:.0f} most"
    )
    print(peak())


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made_folder:
        page(Path(made_folder))
    counting(sys.argv[1:])
