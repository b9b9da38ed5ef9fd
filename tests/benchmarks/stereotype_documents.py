"""The filter of stereotypes on documents that were read whole: every sentence counts.

    python tests/benchmarks/stereotypes.py --documents

Of the report documents of tests/data/documents.jsonl.gz each sentence that states or implies a
stereotype has a line: its group, its strength and its first words. All other sentences state none,
so the figures are of all sentences of documents that were drawn at random. Documents with a
sentence that the detector learnt from, or that calibrates its removal, are left out. A group is
listed if a word list of Evenflow names it (gender, age, religion). Near-copies count once.
"""

from __future__ import annotations

import gzip
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from figures import share
from stereotype_examples import FINDER, SHIPPED, Copies, read, real, spans, used_to_calibrate

from evenflow.schemas.config import load
from evenflow.transforms.measures.stereotypes.detect import THRESHOLD
from evenflow.transforms.measures.stereotypes.filter import StereotypeFilter
from evenflow.transforms.measures.stereotypes.judging import StereotypeJudge
from evenflow.transforms.measures.stereotypes.masking import mask
from evenflow.transforms.staging.sentence_table import Relevant
from evenflow.transforms.text.sentences import sentences

DOCUMENTS = Path(__file__).parent.parent / "data" / "documents.jsonl.gz"
LISTED, OTHER, NONE = 2, 1, 0  # what a sentence states a stereotype of


@dataclass
class Counts:
    """Sentences of some documents.

    Attributes:
        documents: Number of documents.
        sentences: Number of their sentences.
        listed: Number that state a stereotype of a listed group.
        other: Number that state one of other groups alone.
        strong: Number that state a strong one (3 of 3), of whatever group.
        called: Number that the filter calls a stereotype: in all, of those that state one of a
            listed group, of those that state one of other groups alone, and of the strong ones.
        removed: The same of what it takes out, alone or with its document.
        unplaced: Lines whose first words no sentence of their document begins with.
    """

    documents: int = 0
    sentences: int = 0
    listed: int = 0
    other: int = 0
    strong: int = 0
    called: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    removed: list[int] = field(default_factory=lambda: [0, 0, 0, 0])
    unplaced: int = 0

    def add(self, more: Counts) -> None:
        """Add those of other documents."""
        self.documents += more.documents
        self.sentences += more.sentences
        self.listed += more.listed
        self.other += more.other
        self.strong += more.strong
        self.unplaced += more.unplaced
        for own, theirs in ((self.called, more.called), (self.removed, more.removed)):
            own[:] = [a + b for a, b in zip(own, theirs, strict=True)]


def report() -> list[dict[str, Any]]:
    """The report documents."""
    with gzip.open(DOCUMENTS, "rt", encoding="utf-8") as file:
        return [each for each in map(json.loads, file) if each["split"] == "report"]


def documents() -> tuple[list[dict[str, Any]], int]:
    """The report documents that no model has seen, and how many others were left out."""
    seen = {row.doc for row, _ in real() if row.split != "report" or used_to_calibrate(row)}
    kept = [each for each in report() if each["id"] not in seen]
    return kept, len(report()) - len(kept)


def plain(text: str) -> str:
    """A text in lower case with single blanks."""
    return " ".join(text.lower().split())


def attributes(group: str) -> set[str]:
    """The attributes that have words for a group, such as Muslim-men."""
    return {each.attribute for each in FINDER.find(group.replace("-", " "))}


def is_listed(group: str) -> bool:
    """Whether a word list names a group."""
    return not attributes(group).isdisjoint(SHIPPED)


def placed(
    text: str, bounds: Sequence[tuple[int, int]], lines: Sequence[Sequence[Any]]
) -> list[tuple[int, ...]]:
    """The sentences that each stereotype stands in.

    Args:
        text: The document.
        bounds: The (start, end) of its sentences, S of them.
        lines: (group, strength, first words) of each stereotype.

    Returns:
        Of each line the numbers of the sentence in which its words begin, and of those that say
        the same; empty: there is none.
    """
    own = [plain(text[start:end]) for start, end in bounds]
    told = Counter[tuple[str, str]]()
    out: list[tuple[int, ...]] = []
    for group, _, words in lines:
        wanted = plain(words)
        at = [i for i, each in enumerate(own) if each.startswith(wanted)]
        # The annotator's sentence may begin within ours, or be longer
        begin = re.compile(rf"(?<!\w){re.escape(wanted)}")
        at = at or [i for i, each in enumerate(own) if begin.search(each)]
        at = at or [i for i, each in enumerate(own) if each and wanted.startswith(each)]
        number = told[group, wanted]  # a document may say a thing twice
        told[group, wanted] += 1
        same = own[at[number]] if number < len(at) else None
        out.append(tuple(i for i in at if own[i] == same))
    return out


def stated(
    text: str, bounds: Sequence[tuple[int, int]], lines: Sequence[Sequence[Any]]
) -> tuple[list[int], list[int], int]:
    """What each sentence states a stereotype of, how strongly, and how many lines have no sentence.

    Args:
        text: See `placed`.
        bounds: See `placed`.
        lines: See `placed`.

    Returns:
        LISTED, OTHER or NONE of each sentence (S,), the strength, 0 to 3 (S,), and the number of
        lines without a sentence.
    """
    found, strengths = [NONE] * len(bounds), [0] * len(bounds)
    at = placed(text, bounds, lines)
    for (group, strength, _), numbers in zip(lines, at, strict=True):
        kind = LISTED if is_listed(group) else OTHER
        for i in numbers:
            found[i], strengths[i] = max(found[i], kind), max(strengths[i], strength)
    return found, strengths, at.count(())


def counts(
    kept: Sequence[dict[str, Any]], remove_from: float | None = None
) -> Iterator[tuple[str, Counts]]:
    """The source of each document, and its counts under a cut."""
    config = load(None, {"stereotypes.action": "remove", "stereotypes.remove_from": remove_from})
    screen = StereotypeFilter(config)
    whole = [
        Relevant(number, each["text"], sentences(each["text"]), ())
        for number, each in enumerate(kept)
    ]
    copies = Copies()
    for each, one, done in zip(kept, whole, screen.screen(whole), strict=True):
        found, strengths, unplaced = stated(each["text"], one.sentences, each["stereotypes"])
        called = {
            number
            for (number, _), finding in done.findings.items()
            if finding.potential is not None and finding.potential >= THRESHOLD
        }
        removed = {number for (number, _), finding in done.findings.items() if finding.remove}
        for number, (start, end) in enumerate(one.sentences):
            text = each["text"][start:end]
            if (found[number] or number in called) and copies.has(mask(text, spans(text))):
                found[number] = strengths[number] = NONE
                called.discard(number)
                removed.discard(number)
        stating = found.count(LISTED), found.count(OTHER), strengths.count(3)
        own = Counts(1, len(found), *stating, unplaced=unplaced)
        for numbers, tally in ((called, own.called), (removed, own.removed)):
            tally[0] = len(numbers)
            for number in numbers:
                tally[1] += found[number] == LISTED
                tally[2] += found[number] == OTHER
                tally[3] += strengths[number] == 3
        yield each["source"].split("-")[0], own


def they() -> None:
    """Print how many calls of sentences about "they" are right, see stereotype_sets_README.md."""
    whole = report()
    read_so = {(each["number"], each["start"]): each["label"] for each in read("stereotype_they")}
    texts = [Relevant(0, each["text"], sentences(each["text"]), ()) for each in whole]
    judge = StereotypeJudge(load(None, {}, SHIPPED), SHIPPED, every=True)
    found: dict[tuple[int, int, str], float] = {}
    for each in judge.judge(texts, [each for each in judge.candidates(texts) if each.before]):
        at = each.candidate
        start, end = texts[at.document].sentences[at.sentence]
        text = mask(texts[at.document].text[start:end], at.spans)
        key = whole[at.document]["number"], start, text
        found[key] = max(found.get(key, 0.0), each.potential or 0.0)
    for least in (THRESHOLD, 0.7):
        copies = Copies()
        own = [key for key, chance in found.items() if chance >= least and not copies.has(key[2])]
        right = [read_so[number, start] for number, start, _ in own]
        print(f"about “they”, called from {least}: right {share(sum(right), len(right))}")


def line(name: str, own: Counts) -> str:
    """A line of the table."""
    said = [
        f"{what} {tally[0]}: precision {share(tally[1] + tally[2], tally[0])}; recall of listed"
        f" groups {share(tally[1], own.listed)}, of others {share(tally[2], own.other)}, of strong"
        f" ones {share(tally[3], own.strong)}"
        for what, tally in (("called", own.called), ("removed", own.removed))
    ]
    return (
        f"{name}: {own.documents} documents, {own.sentences} sentences, {own.listed} state a"
        f" stereotype of a listed group, {own.other} of other groups alone\n  " + "\n  ".join(said)
    )


def main(remove_from: float | None = None) -> None:
    """Print the table, in all and by source, under a cut."""
    kept, left_out = documents()
    by_source: dict[str, Counts] = {}
    total = Counts()
    for source, own in counts(kept, remove_from):
        by_source.setdefault(source, Counts()).add(own)
        total.add(own)
    print(f"== whole documents, drawn at random; {left_out} that a model has seen are left out ==")
    print(line("all", total))
    for source, own in sorted(by_source.items()):
        print(line(source, own))
    print(f"{total.unplaced} lines have no sentence")
    they()
