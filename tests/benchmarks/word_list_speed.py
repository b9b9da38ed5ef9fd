"""How fast words are counted, and how fast the page of a review answers.

    python tests/benchmarks/word_list_speed.py CORPUS...

The corpus is read again and again up to 100 MB of text. The words are 2,000 of the shipped vectors,
counted by document; beside it stands the label finder alone, on the same words and texts. The page
shows a word of a draft of 5,000 and of 100,000 words of which two reviewers have decided all but
ten, before and after a decision. Last, a draft is made of 100,000 proposals: the corpus' own words
and others.
Times are of the processor, so other work on the machine does not count.
"""

from __future__ import annotations

import re
import resource
import statistics
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Sequence
from itertools import cycle
from pathlib import Path

import orjson
from starlette.testclient import TestClient

from evenflow.pipelines.lab.word_review.app import application
from evenflow.schemas.config import load as configuration
from evenflow.transforms.lab.word_lists import corpus, draft, finish, proposals
from evenflow.transforms.lab.word_lists.draft import Candidate, Draft
from evenflow.transforms.lab.word_lists.journal import Journal
from evenflow.transforms.lab.word_lists.proposals import Proposal
from evenflow.transforms.labels.finder import BETWEEN, LabelFinder, pieces
from evenflow.transforms.measures.bias_score import vectors
from evenflow.wordlists.loader import WordList

BYTES, WORDS, CANDIDATES, ASKED = 100_000_000, 2000, (5000, 100_000), 5
OPEN = 10  # words that nobody has decided
WORD = re.compile("[a-z]{2,}")
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
    labels = proposals.WordSpace(vectors.shipped()).words[:WORDS]
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


def page(folder: Path, size: int) -> None:
    """Print how fast the page answers, and how long the list takes."""
    made = Draft(
        attribute="a",
        groups=("b", "c"),
        source="",
        licence="",
        documents=1,
        option="A",
        candidates=tuple(
            Candidate(word=f"word{n}", group="bc"[n % 2], forms={f"word{n}": 1}, sources=("s",),
                      order=n, examples=(f"A sentence with word{n}.",) * 10)
            for n in range(size)
        ),
    )  # fmt: skip
    journal = Journal(made, folder / f"{size}.json")
    line = {"at": "2026-01-01T00:00:00+00:00", "action": "accept"}
    journal.path.write_bytes(
        b"".join(
            orjson.dumps({**line, "reviewer": who, "word": each.word, "value": each.group}) + b"\n"
            for who in ("Ada", "Ben")
            for each in made.candidates[:-OPEN]
        )
    )
    client = TestClient(application(journal, "token-of-the-benchmark"), base_url=HERE)
    client.get("/?token=token-of-the-benchmark")
    form = client.get("/").text.split('name="form" value="')[1].split('"')[0]
    headers = {"origin": HERE}
    client.post("/who", data={"form": form, "who": "Ada"}, headers=headers)
    times: dict[str, list[float]] = {"shown": [], "decided, next shown": []}
    for number in range(size - OPEN, size - OPEN + ASKED):
        for which, own in times.items():
            begun = time.process_time()
            if which == "shown":
                assert f"<title>word{number}" in client.get("/").text
            else:
                given = {"form": form, "word": f"word{number}", "action": "reject"}
                assert client.post("/decide", data=given, headers=headers).status_code == 200
            own.append(1000 * (time.process_time() - begun))
    for which, own in times.items():
        said = f"median {statistics.median(own):.0f} ms, {max(own):.0f} most"
        print(f"page of {size:,} words, {which}: {said}; {peak()}")
    begun = time.process_time()
    finish.finish(made, journal.state().opinions, leave_undecided=True)
    print(f"list of {size:,} words: {time.process_time() - begun:.1f} s, {peak()}")


def making(inputs: Sequence[str]) -> None:
    """Print what a draft of very many proposals takes."""
    blocks = list(corpus.texts(inputs, configuration(None, {}, (), ())))
    own = Counter(word for each in blocks for text in each for word in WORD.findall(text.lower()))
    others = (f"{one}{two}" for one in list(own)[:1000] for two in list(own)[:1000])
    words = list(dict.fromkeys([*own, *others]))[: draft.MOST]
    proposed = {
        group: [Proposal(word, group, "s") for word in words[number::2]]
        for number, group in enumerate(("b", "c"))
    }
    begun = time.process_time()
    made = draft.make(
        "a", proposed, blocks, option="A", top=draft.MOST, source="", licence=""
    )  # fmt: skip
    spent = time.process_time() - begun
    print(f"draft of {len(words):,} proposals: {len(made.candidates):,} words in the corpus,")
    print(f"  {spent:.0f} s, {peak()}")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made_folder:
        for each_size in CANDIDATES:
            page(Path(made_folder), each_size)
    counting(sys.argv[1:])
    making(sys.argv[1:])
