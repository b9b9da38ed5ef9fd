"""Label matching beside other tools: python tests/benchmarks/labels.py documents.jsonl[.gz] …

Speed of each tool in the same run, on one core, over the same documents joined by blank lines in
blocks as they are read, and how many mentions of the shipped lists it finds. The others are set up
as their manuals say: whole words, case ignored. They see no combining marks, no links and no
«don't», and only Python's `re` was told to prefer longer labels.
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

import spacy
from spacy.matcher import PhraseMatcher

from evenflow.transforms.io.blocks import BLOCK_BYTES
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.wordlists.loader import SHIPPED, WordList, load

Tool = Callable[[str], int]
RUNS = 5
# Characters that each tool is timed on: about half a second's work or more.
TIMED = {
    "evenflow": 40_000_000,
    "re, one pattern a list": 2_000_000,
    "spaCy PhraseMatcher": 400_000,
}


def read_texts(paths: list[Path]) -> str:
    """The documents' texts joined by blank lines."""
    texts: list[str] = []
    for path in paths:
        opener = gzip.open if path.suffix == ".gz" else open
        with opener(path, "rt", encoding="utf-8") as file:
            texts += [json.loads(line)["text"] for line in file]
    return "\n\n".join(texts)


def tools(lists: list[WordList]) -> Iterator[tuple[str, Tool]]:
    """Each tool as a function from a text to the number of mentions found."""
    finder = LabelFinder(lists)
    yield "evenflow", lambda text: sum(len(found.starts) for found in finder.find_all(text))
    patterns = [
        re.compile(
            rf"\b(?:{'|'.join(map(re.escape, sorted(words.labels, key=len, reverse=True)))})\b",
            re.IGNORECASE,
        )
        for words in lists
    ]
    yield (
        "re, one pattern a list",
        lambda text: sum(len(pattern.findall(text)) for pattern in patterns),
    )
    nlp = spacy.blank("en")
    nlp.max_length = 10**9
    matchers: list[PhraseMatcher] = []
    for words in lists:
        matchers.append(PhraseMatcher(nlp.vocab, attr="LOWER"))
        matchers[-1].add(words.attribute, list(nlp.pipe(words.labels)))

    def spacy_count(text: str) -> int:
        document = nlp.make_doc(text)
        return sum(len(matcher(document)) for matcher in matchers)

    yield "spaCy PhraseMatcher", spacy_count


def speed(text: str, tool: Tool) -> tuple[float, float, float]:
    """Least, median and greatest speed of RUNS, in MB (of UTF-8) a second of processor time."""
    size = len(text.encode())
    blocks = [text[at : at + BLOCK_BYTES] for at in range(0, len(text), BLOCK_BYTES)]
    speeds: list[float] = []
    for _ in range(RUNS):
        begin = time.process_time()
        for block in blocks:
            tool(block)
        speeds.append(size / (time.process_time() - begin) / 1e6)
    return min(speeds), median(speeds), max(speeds)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument(
        "documents", type=Path, nargs="+", help="JSON lines with a field text, plain or gzipped"
    )
    text = read_texts(parser.parse_args().documents)
    sample = text[: min(TIMED.values())]
    plain = text.encode("ascii", "ignore").decode()
    print(
        f"{len(text):,} characters; MB/s of all three lists: least, median, greatest of {RUNS} runs"
    )
    print(f"{'tool':24} {'as given':>23} {'ASCII alone':>23} {'mentions a million characters':>30}")
    for name, tool in tools([load(each) for each in SHIPPED]):
        tool(sample)  # tables are made at the first text
        row = [
            speed((each * (TIMED[name] // len(each) + 1))[: TIMED[name]], tool)
            for each in (text, plain)
        ]
        shown = [" ".join(f"{value:7.2f}" for value in each) for each in row]
        mentions = tool(sample) / len(sample) * 1e6
        print(f"{name:24} {shown[0]:>23} {shown[1]:>23} {mentions:30,.0f}", flush=True)


if __name__ == "__main__":
    main()
