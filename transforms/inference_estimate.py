"""How many sentences an LLM would be asked about, and what that costs, from a sample of the input.

Documents are taken from places spread over the input: plain JSON lines at several offsets of a file, other formats at the
beginning of each file. A total is the ratio estimate of survey sampling (Cochran, «Sampling Techniques», 1977, 6.4):
sentences a byte in the sample, times the input's bytes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenflow.schemas.config import Config
from evenflow.transforms import files
from evenflow.transforms.files import Block
from evenflow.transforms.labels import LabelFinder, uncut
from evenflow.transforms.llm_detection import Detection
from evenflow.transforms.records import validate
from evenflow.transforms.sentences import bounds, trimmed
from evenflow.wordlists import loader

PLACES = 32  # from which documents are taken: enough to see that parts of an input differ
LOOKED_AHEAD = 4 << 20  # bytes of a compressed file, which tell how well it is compressed
NORMAL_95 = 1.96  # standard errors on either side of an interval of 95 %
CHARACTERS_A_TOKEN = 4.0  # of English, in common models' vocabularies; other languages need more tokens
ANSWER_TOKENS = 60  # of the answer to a question about stereotypes, which has six fields

Spans = Sequence[tuple[int, int, str]]
Detect = Callable[[Sequence[str], Sequence[Spans]], Sequence[float | None]]


@dataclass(frozen=True)
class Total:
    """A number of questions, the half-width of its interval of 95 % (None for one document), and their tokens."""

    questions: int
    within: int | None
    tokens: int

    def as_json(self, tokens_a_second: float) -> dict[str, Any]:
        """Plain data, with the hours at so many tokens a second."""
        hours = round(self.tokens / tokens_a_second / 3600, 2)
        return {"questions": self.questions, "within": self.within, "tokens": self.tokens, "hours": hours}


@dataclass
class Sample:
    """Sampled documents, an entry a document. weights: bytes of the input that each stands for, as stored.

    relevant, unsure: its sentences that name a label; those of them in the band. relevant_characters,
    unsure_characters: of the prompts that would be sent for them.
    """

    weights: list[float] = field(default_factory=list)
    relevant: list[int] = field(default_factory=list)
    unsure: list[int] = field(default_factory=list)
    relevant_characters: list[int] = field(default_factory=list)
    unsure_characters: list[int] = field(default_factory=list)

    def total(self, counts: Sequence[int], characters: Sequence[int], input_bytes: int) -> Total:
        """What these counts come to for an input of so many bytes."""
        weights, numbers = np.asarray(self.weights, float), np.asarray(counts, float)
        whole = weights.sum()
        if not whole:
            return Total(0, None, 0)
        share = min(1.0, whole / input_bytes)
        ratio = numbers.sum() / whole
        within = None
        if len(weights) > 1:
            spread = (numbers - ratio * weights).std(ddof=1) * math.sqrt(len(weights)) / whole
            # All of the input was seen where share is 1: nothing is left to err about.
            within = round(NORMAL_95 * spread * math.sqrt(1 - share) * input_bytes)
        tokens = sum(characters) / CHARACTERS_A_TOKEN + ANSWER_TOKENS * sum(counts)
        return Total(round(ratio * input_bytes), within, round(tokens / whole * input_bytes))


class Sampler:
    """Counts the sentences of documents that an LLM could be asked about; built once. Raises WordListError.

    detect: the embedded detector. band: its probabilities (both ends included) that count as unsure.
    """

    def __init__(self, config: Config, detect: Detect, band: tuple[float, float]):
        self._config = config
        self._examination = Detection()
        self._detect = detect
        self._band = band
        lists = [loader.load(each.wordlist or name) for name, each in config.attributes.items()]
        self._finder = LabelFinder(lists)

    def add(self, sample: Sample, block: Block, stored: float) -> None:
        """Add a block's documents, which stand for so many stored bytes, shared by their length."""
        texts = validate(block, self._config, frozenset(), keep_fields=False).texts
        characters = sum(map(len, texts)) + len(texts)
        for text in texts:
            sentences, labels = self._relevant(text)
            chances = self._detect(sentences, labels) if sentences else []
            asked = [self._characters(*each) for each in zip(sentences, labels, strict=True)]
            low, high = self._band
            unsure = [number for number, chance in enumerate(chances) if chance is not None and low <= chance <= high]
            sample.weights.append(stored * (len(text) + 1) / characters)
            sample.relevant.append(len(sentences))
            sample.unsure.append(len(unsure))
            sample.relevant_characters.append(sum(asked))
            sample.unsure_characters.append(sum(asked[number] for number in unsure))

    def _relevant(self, text: str) -> tuple[list[str], list[Spans]]:
        """The relevant sentences, and the spans of the labels in each."""
        found = self._finder.find_all(text)
        mentions = sorted(self._finder.named(found), key=lambda mention: mention.start)
        sentences: list[str] = []
        labels: list[Spans] = []
        at = 0
        for start, end in trimmed(text, uncut(bounds(text), found).tolist()):
            first = at
            while at < len(mentions) and mentions[at].start < end:
                at += 1
            if at > first:
                sentences.append(text[start:end])
                labels.append([(each.start - start, each.end - start, each.attribute) for each in mentions[first:at]])
        return sentences, labels

    def _characters(self, sentence: str, labels: Spans) -> int:
        """Characters of the question; none for a sentence that is too long to be asked about."""
        question = self._examination.question(sentence, labels)
        return 0 if question is None else sum(len(message["content"]) for message in question.messages)


def taken(found: Mapping[str, int], documents: int) -> Iterator[tuple[Block, float]]:
    """Blocks from places spread over the files (names and stored bytes), about so many documents in all; with each, the
    stored bytes that it stands for. Raises OSError.
    """
    names = [name for name in found if found[name]]
    names = [names[number * len(names) // min(PLACES, len(names))] for number in range(min(PLACES, len(names)))]
    a_file = max(1, PLACES // max(1, len(names)))
    for name in names:
        places = a_file if name.endswith(".jsonl") else 1
        for place in range(places):
            wanted = max(1, documents // (len(names) * places))
            if name.endswith(".jsonl"):
                yield from _lines(name, found[name] * place // places, found[name] * (place + 1) // places, wanted)
            else:
                yield from _beginning(name, found[name], wanted)


def _lines(name: str, start: int, end: int, wanted: int) -> Iterator[tuple[Block, float]]:
    """So many lines of a file at most, the first that begins at or after one byte up to the last that begins before another."""
    with files.open_file(name) as raw:
        if start:
            raw.seek(start - 1)
            start += len(raw.readline(files.RECORD_BYTES)) - 1
    block = next(files.blocks(name, 1, start), None) if start < end else None
    if block is None or not block.size:
        return
    begins = np.cumsum([0, *(weight + 1 for weight in block.weights())]) + start
    count = min(wanted, block.size, int(np.count_nonzero(begins[:-1] < end)))
    part = block.clip(block.first, block.first + count - 1)
    if part is not None:
        yield part, float(begins[count] - start)


def _beginning(name: str, size: int, wanted: int) -> Iterator[tuple[Block, float]]:
    """So many of a file's first records, and the stored bytes that they stand for: few, where it is compressed."""
    parts: list[Block] = []
    weight = before = 0
    known = (0, 0)  # bytes of records, and the stored bytes that they came from
    for block in files.blocks(name):
        # A block says how far the file was read, which is further than where its last record ends; but once it has to
        # read on, all that was read before has been given out.
        if block.stored > before and weight:
            known = (weight, before)
        before = block.stored
        weight += sum(block.weights())
        part = block.clip(block.first, block.first + wanted - 1) if wanted else None
        if part is not None and part.size:
            parts.append(part)
            wanted -= part.size
        if not wanted and known[1] >= LOOKED_AHEAD:
            break
    else:
        known = (weight, size)
    for part in parts:
        yield part, known[1] * sum(part.weights()) / max(1, known[0])
