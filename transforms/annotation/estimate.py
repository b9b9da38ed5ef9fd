"""How much an LLM would be asked, step by step, and what that costs, from a sample of the input.

The sample goes the way of a run, with a language model that hears every question and answers none:
so what is counted is what a run would ask, as long as the model finds as much as the embedded ones
do. Documents are taken from places spread over the input: plain JSON lines at several offsets of a
file, other formats at the beginning of each file. A total is the ratio estimate of survey sampling
(Cochran, «Sampling Techniques», 1977, 6.4): questions a byte in the sample, times the input's
bytes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, TypeVar

import numpy as np

from evenflow.prompts import loader
from evenflow.schemas.config import Config
from evenflow.schemas.sections import Tiering
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.io import files
from evenflow.transforms.io.blocks import RECORD_BYTES, Block, read_blocks
from evenflow.transforms.io.records import validate
from evenflow.transforms.llm.budget import SPENT
from evenflow.transforms.llm.questions import Answer, Question
from evenflow.transforms.llm.worker import Tier

T = TypeVar("T")

PLACES = 32  # from which documents are taken: enough to see that parts of an input differ
LOOKED_AHEAD = 4 << 20  # bytes of a compressed file, which tell how well it is compressed
NORMAL_95 = 1.96  # standard errors on either side of an interval of 95 %
# Of English, in common models' vocabularies; other languages need more tokens
CHARACTERS_A_TOKEN = 4.0
# Documents that are counted together: few enough for some hundred units, enough to be quick
UNIT = 8
MODES: tuple[Tiering, ...] = ("cascade", "llm")  # in the third, embedded, nothing is asked
STEPS = {
    "stereotypes": "detection",
    "indicators": "indicators",
    "counterpart": "substitution",
    "substitution": "substitution",
}


@dataclass(frozen=True)
class Total:
    """A number of questions, the half-width of its interval of 95 % (None for one unit), and their
    tokens.
    """

    questions: int
    within: int | None
    tokens: int

    def as_json(self, tokens_a_second: float) -> dict[str, Any]:
        """Plain data, with the hours at so many tokens a second."""
        hours = round(self.tokens / tokens_a_second / 3600, 2)
        return {
            "questions": self.questions,
            "within": self.within,
            "tokens": self.tokens,
            "hours": hours,
        }


@dataclass
class Sample:
    """Sampled documents in units of a few. weights: bytes of the input that each unit stands for,
    as stored.

    asked: by mode, a unit each: by prompt, its questions and the characters of their messages.
    """

    documents: int = 0
    weights: list[float] = field(default_factory=list)
    asked: dict[str, list[dict[str, tuple[int, int]]]] = field(
        default_factory=lambda: {mode: [] for mode in MODES}
    )

    def total(self, modes: Mapping[str, str], input_bytes: int) -> Total:
        """What prompts (name -> mode) come to for an input of so many bytes."""
        weights = np.asarray(self.weights, float)
        counts, tokens = np.zeros(len(weights)), np.zeros(len(weights))
        for prompt, mode in modes.items():
            each = np.array(
                [unit.get(prompt, (0, 0)) for unit in self.asked.get(mode, ())], float
            ).reshape(-1, 2)
            if len(each):
                counts += each[:, 0]
                tokens += each[:, 1] / CHARACTERS_A_TOKEN + each[:, 0] * answer_tokens(prompt)
        whole = weights.sum()
        if not whole:
            return Total(0, None, 0)
        share = min(1.0, whole / input_bytes)
        ratio = counts.sum() / whole
        within = None
        if len(weights) > 1:
            spread = (counts - ratio * weights).std(ddof=1) * math.sqrt(len(weights)) / whole
            # All of the input was seen where share is 1: nothing is left to err about.
            within = round(NORMAL_95 * spread * math.sqrt(1 - share) * input_bytes)
        return Total(round(ratio * input_bytes), within, round(tokens.sum() / whole * input_bytes))


@cache
def answer_tokens(prompt: str) -> float:
    """Tokens of an answer: as long as those of the prompt's examples are on average."""
    lengths = [len(json.dumps(answer)) for _, answer in loader.load(prompt).examples]
    return sum(lengths) / len(lengths) / CHARACTERS_A_TOKEN


class _Hears:
    """Answers nothing, and counts questions and characters of messages, by prompt."""

    def __init__(self) -> None:
        self.heard: dict[str, tuple[int, int]] = {}

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        for question in questions:
            count, characters = self.heard.get(question.prompt, (0, 0))
            characters += sum(len(message["content"]) for message in question.messages)
            self.heard[question.prompt] = count + 1, characters
        return [Answer(None, "fallback", SPENT) for _ in questions]


class _Hearing(Tier):
    """A tier in which work need not be done again: nothing is ever answered."""

    def together(self, work: Callable[[], T]) -> T:
        return work()


class Sampler:
    """Counts what documents would be asked about; built once. Raises WordListError.

    Every step is counted, those too that the configuration leaves out. unit: documents that are
    counted together.
    """

    def __init__(self, config: Config, unit: int = UNIT):
        self._config = config
        self._unit = unit
        self._hears = {mode: _Hears() for mode in MODES}
        self._annotators = {
            mode: Annotator(own := _everything(config, mode), _Hearing(own, self._hears[mode]))
            for mode in MODES
        }

    def add(self, sample: Sample, block: Block, stored: float) -> None:
        """Add a block's documents, which stand for so many stored bytes, shared by their length."""
        found = validate(block, self._config, frozenset(), keep_fields=False)
        whole = sum(map(len, found.texts)) + len(found.texts)
        for first in range(0, len(found.texts), self._unit):
            part = slice(first, first + self._unit)
            texts = found.texts[part]
            sample.documents += len(texts)
            sample.weights.append(stored * (sum(map(len, texts)) + len(texts)) / whole)
            for mode, annotator in self._annotators.items():
                self._hears[mode].heard = {}
                own = type(found)(found.file, found.ids[part], texts, found.places[part])
                annotator.annotated(own, 0)
                sample.asked[mode].append(self._hears[mode].heard)


def _everything(config: Config, mode: Tiering) -> Config:
    """The configuration with every step done, in a mode, without a budget."""
    data = config.model_dump()
    data["llm"] |= {"detection": mode, "indicators": mode, "substitution": mode, "requests": None}
    for section in (
        data["stereotypes"],
        *(each["stereotypes"] for each in data["attributes"].values()),
    ):
        section["policy"] = "flag" if section["policy"] == "off" else section["policy"]
    for section in (data["repair"], *data["attributes"].values()):
        section["mode"] = (
            "substitute" if section["mode"] in ("measure", "reweight") else section["mode"]
        )
    return Config.model_validate(data)


def configured(config: Config) -> dict[str, str]:
    """By prompt the mode in which a run under this configuration would ask, embedded where it does
    not do the step.
    """
    looks = config.looks_for_stereotypes
    done = {"detection": looks, "indicators": looks, "substitution": config.changes_sentences}
    return {
        prompt: getattr(config.llm, step) if done[step] else "embedded"
        for prompt, step in STEPS.items()
    }


def taken(found: Mapping[str, int], documents: int) -> Iterator[tuple[Block, float]]:
    """Blocks from places spread over the files (names and stored bytes), about so many documents in
    all; with each, the stored bytes that it stands for. Raises OSError.
    """
    names = [name for name in found if found[name]]
    names = [
        names[number * len(names) // min(PLACES, len(names))]
        for number in range(min(PLACES, len(names)))
    ]
    a_file = max(1, PLACES // max(1, len(names)))
    for name in names:
        places = a_file if name.endswith(".jsonl") else 1
        for place in range(places):
            wanted = max(1, documents // (len(names) * places))
            if name.endswith(".jsonl"):
                yield from _lines(
                    name, found[name] * place // places, found[name] * (place + 1) // places, wanted
                )
            else:
                yield from _beginning(name, found[name], wanted)


def _lines(name: str, start: int, end: int, wanted: int) -> Iterator[tuple[Block, float]]:
    """So many lines of a file at most, the first that begins at or after one byte up to the last
    that begins before another.
    """
    with files.open_file(name) as raw:
        if start:
            raw.seek(start - 1)
            start += len(raw.readline(RECORD_BYTES)) - 1
    block = next(read_blocks(name, 1, start), None) if start < end else None
    if block is None or not block.size:
        return
    begins = np.cumsum([0, *(weight + 1 for weight in block.weights())]) + start
    count = min(wanted, block.size, int(np.count_nonzero(begins[:-1] < end)))
    part = block.clip(block.first, block.first + count - 1)
    if part is not None:
        yield part, float(begins[count] - start)


def _beginning(name: str, size: int, wanted: int) -> Iterator[tuple[Block, float]]:
    """So many of a file's first records, and the stored bytes that they stand for: few, where it is
    compressed.
    """
    parts: list[Block] = []
    weight = before = 0
    known = (0, 0)  # bytes of records, and the stored bytes that they came from
    for block in read_blocks(name):
        # A block says how far the file was read, which is further than where its last record ends;
        # but once it has to read on, all that was read before has been given out.
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
