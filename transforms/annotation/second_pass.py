"""Spends a budget of tokens on a whole pane, and annotates again the blocks that got answers.

While a block is read, its questions are only collected, and the embedded models' answers stand
(`llm.budget.QuestionCollector`). The staged block keeps the deferred questions, and the documents
as they were read. Once all blocks of the pane are staged:

1. Rank the questions of all blocks by worth, then by key. Grant as many as the budget has
   tokens for.
2. Ask these. Annotate again, with the answers, the blocks that have one of these questions.
3. Answers bring up new questions (is this stereotype strong? is the sentence right with that
   word?). Go on from 1 with what is left of the budget.

So the questions that are asked depend on the pane's documents, the settings and the answers. They
do not depend on how blocks were cut, how many workers read them, or what a cache held. A question
whose answer is in the cache costs its share of the budget like any other. Steps do not wait for
each other, because otherwise the questions of the first step would always come before those of the
next. The price is that an answer is wasted if another answer of the same round removes its
sentence.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from itertools import islice
from typing import NamedTuple

from evenflow.prompts import loader
from evenflow.schemas import documents
from evenflow.schemas.documents import Figures
from evenflow.transforms.annotation.annotate import Annotated, Annotator, Deferred
from evenflow.transforms.llm import SPENT
from evenflow.transforms.llm.budget import ranked
from evenflow.transforms.llm.client.stats import Counted, Stats
from evenflow.transforms.llm.questions import Answer, Asker, Question
from evenflow.transforms.staging.block import (
    Part,
    StagedBlock,
    documents_table,
    read_documents,
)

TOGETHER = 4096  # questions asked at once: many times the requests under way, few enough for memory

# Writes the parts of an annotated block
Stage = Callable[[Annotated, StagedBlock, Annotator], None]


class _Line(NamedTuple):
    """A deferred question as a line of its block's part; see Question."""

    worth: float
    key: str
    prompt: str
    sentence: str
    content: str
    tokens: int

    def question(self) -> Question:
        """The question that the line stands for."""
        prompt = loader.load(self.prompt)
        return Question(
            prompt.name,
            prompt.digest,
            prompt.chat(self.content),
            prompt.schema,
            self.sentence,
            self.worth,
        )


def write(block: StagedBlock, deferred: Deferred) -> None:
    """Write a block's deferred questions, and its documents as they were read.

    Args:
        deferred: What waits for the pane's budget.

    Raises:
        OSError: A file cannot be written.
    """
    lines = (
        _Line(
            each.worth,
            each.key,
            each.prompt,
            each.sentence,
            each.messages[-1]["content"],
            each.tokens,
        )
        for each in deferred.questions
    )
    block.write_lines(Part.DEFERRED, (json.dumps(line).encode() + b"\n" for line in lines))
    block.write(Part.READ, documents_table(deferred.read, {}))


def spend_budget(
    figures: Mapping[StagedBlock, Figures], annotator: Annotator, stage: Stage
) -> dict[StagedBlock, Figures]:
    """Spend a pane's budget on the questions of its blocks.

    The files of blocks that got answers are rewritten. The cost of the questions is added to the
    figures of the pane's first block, since figures add up.

    Args:
        figures: The pane's blocks in source order, with their figures.
        stage: Writes the parts of an annotated block.

    Returns:
        The blocks with their figures after that.

    Raises:
        OSError: A file cannot be read or written.
    """
    out = dict(figures)
    left = annotator.config.llm.tokens
    if annotator.tier is None:
        return out
    client = Counted(annotator.tier.client)
    known: dict[str, Answer] = {}
    refused: dict[str, str] = {}  # keys of questions for which nothing was left, and their prompts
    asked: dict[str, tuple[str, Answer]] = {}  # prompt and answer, before a check may reject it
    waiting = [block for block in figures if block.has(Part.DEFERRED)]
    while waiting:
        granted = _granted(waiting, left, refused)
        left -= sum(granted.values())
        asked |= _ask(client, waiting, granted, known)
        waiting = [
            block
            for block in waiting
            if any(each.key in granted for each in _read(block))
            and _annotated_again(block, out, known, annotator, stage)
        ]
    for key, (prompt, answer) in asked.items():
        if answer.value is not None and known[key].value is None:
            client.stats[prompt].reject(answer, known[key].reason)
    _charge(out, client.stats, refused)
    return out


def _granted(blocks: Iterable[StagedBlock], left: int, refused: dict[str, str]) -> dict[str, int]:
    """The most valuable questions, key → tokens; adds the others to the refused."""
    wanted: dict[str, tuple[float, int]] = {}
    prompts: dict[str, str] = {}
    for each in (each for block in blocks for each in _read(block)):
        wanted[each.key] = max(each.worth, wanted.get(each.key, (0.0, 0))[0]), each.tokens
        prompts[each.key] = each.prompt
    order, count = ranked(wanted, left)
    refused.update((key, prompts[key]) for key in order[count:])
    return {key: wanted[key][1] for key in order[:count]}


def _ask(
    client: Asker,
    blocks: Iterable[StagedBlock],
    granted: Collection[str],
    known: dict[str, Answer],
) -> dict[str, tuple[str, Answer]]:
    """Ask the granted questions, and add the answers by their keys.

    Returns:
        Key → prompt and answer.
    """
    wanted = (each for block in blocks for each in _read(block) if each.key in granted)
    seen: set[str] = set()
    found: dict[str, tuple[str, Answer]] = {}
    once = (each for each in wanted if not (each.key in seen or seen.add(each.key)))
    while batch := list(islice(once, TOGETHER)):
        answers = client.ask([each.question() for each in batch])
        known.update(zip((each.key for each in batch), answers, strict=True))
        found |= {each.key: (each.prompt, known[each.key]) for each in batch}
    return found


def _annotated_again(
    block: StagedBlock,
    figures: dict[StagedBlock, Figures],
    known: dict[str, Answer],
    annotator: Annotator,
    stage: Stage,
) -> bool:
    """Annotate a block again with the known answers; whether new questions came up."""
    before = figures[block]
    read = read_documents(block.read(Part.READ))
    done = annotator.annotate_documents(read, before.input_bytes, known)
    done.figures.take_reading(before)
    block.remove(*(part for part in Part if part != Part.LETTERS))
    stage(done, block, annotator)
    figures[block] = done.figures
    return done.deferred is not None


def _charge(
    figures: Mapping[StagedBlock, Figures], asked: dict[str, Stats], refused: Mapping[str, str]
) -> None:
    """Add the pane's cost to its first block."""
    for prompt in refused.values():
        asked.setdefault(prompt, Stats()).note(Answer(None, "fallback", SPENT))
    first = next(iter(figures.values()), None)
    if first is not None and asked:
        first.llm = documents.summed(
            first.llm, {name: each.additive() for name, each in asked.items()}
        )


def _read(block: StagedBlock) -> Iterator[_Line]:
    """A block's deferred questions."""
    for line in block.lines(Part.DEFERRED):
        yield _Line(*json.loads(line))
