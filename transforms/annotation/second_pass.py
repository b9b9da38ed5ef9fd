"""A budget of questions over a whole pane: all are heard first, the most valuable are asked, and
what they bear on is done again.

Where a block is read, its questions are heard, none is asked, and the embedded models' answers
stand (`llm_budget.Rehearsal`). Beside its staged files lie then what was heard and the documents as
they were read. Once the pane's blocks are all there:

1. rank the questions of all blocks by worth, then by key; grant as many as the budget has;
2. ask these, and annotate the blocks that heard one of them again, with the answers;
3. answers bring up new questions (is this stereotype strong? is the sentence right with that
word?): from 1, with what is left.

So which questions are asked hangs on the pane's documents, the settings and the answers: not on how
blocks were cut, how many workers read them, or what a cache knew. A question whose answer is in the
cache costs its share of the budget as any other. Steps do not wait for each other, else the first
step's questions would always come before the next one's: of a sentence that an answer takes out,
another answer of the same round is idle.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from evenflow.prompts import loader
from evenflow.schemas import documents
from evenflow.schemas.documents import Figures
from evenflow.transforms.annotation.annotate import Annotated, Annotator, Deferred
from evenflow.transforms.io.records import Documents
from evenflow.transforms.llm.budget import SPENT
from evenflow.transforms.llm.client.stats import Counted, Stats
from evenflow.transforms.llm.questions import Answer, Asker, Question
from evenflow.transforms.staging import aside, proposals, sentence_table
from evenflow.transforms.staging.shards import read_block, write_block

HEARD, READ = ".heard", ".read"  # of a block's files
# What annotating a block makes, dead letters apart
MADE = (".arrow", proposals.SUFFIX, sentence_table.SUFFIX, aside.SUFFIX)
TOGETHER = 4096  # questions asked at once: many times the requests under way, few enough for memory

Stage = Callable[[Annotated, Path, Annotator], None]


class _Heard(NamedTuple):
    """A line of a block's file."""

    worth: float
    key: str
    prompt: str
    sentence: str
    content: str

    def question(self) -> Question:
        """The question."""
        prompt = loader.load(self.prompt)
        return Question(
            prompt.name,
            prompt.digest,
            prompt.chat(self.content),
            prompt.schema,
            self.sentence,
            self.worth,
        )


def keep(path: Path, heard: Deferred | None) -> None:
    """Write what a block's questions are, and its documents, beside its other files; nothing where
    nothing was heard.

    Raises OSError.
    """
    if heard is None:
        path.with_suffix(HEARD).unlink(missing_ok=True)  # of an earlier round
        return
    with path.with_suffix(HEARD).open("w", encoding="ascii") as file:
        for each in heard.questions:
            line = _Heard(
                each.worth, each.key, each.prompt, each.sentence, each.messages[-1]["content"]
            )
            file.write(json.dumps(line) + "\n")
    write_block(_table(heard.read), path.with_suffix(READ))


def settled(
    figures: Mapping[str, Figures], folder: Path, annotator: Annotator, stage: Stage
) -> dict[str, Figures]:
    """The figures of a pane's blocks, by stem, after its budget was spent on what its blocks had
    heard; their files are made anew where answers bear on them.

    stage: writes a block's files. What asking cost goes with the pane's first block, since figures
    add up. Raises OSError.
    """
    out = dict(figures)
    left = annotator.config.llm.requests
    if annotator.tier is None or left is None:
        return out
    client = Counted(annotator.tier.client)
    known: dict[str, Answer] = {}
    refused: dict[str, str] = {}  # keys of questions for which nothing was left, and their prompts
    waiting = [stem for stem in figures if (folder / stem).with_suffix(HEARD).exists()]
    while waiting:
        paths = {stem: (folder / stem).with_suffix(HEARD) for stem in waiting}
        granted = _granted(paths.values(), left, refused)
        left -= len(granted)
        _ask(client, paths.values(), granted, known)
        waiting = []
        for stem, path in paths.items():
            if any(each.key in granted for each in _read(path)) and _again(
                path, out, known, annotator, stage
            ):
                waiting.append(stem)
    for stem in figures:
        for suffix in (HEARD, READ):
            (folder / stem).with_suffix(suffix).unlink(missing_ok=True)
    _charge(out, client.stats, refused)
    return out


def _granted(paths: Iterable[Path], left: int, refused: dict[str, str]) -> frozenset[str]:
    """The keys of the most valuable questions, as many as are left; the others are added to the
    refused.
    """
    worth: dict[str, float] = {}
    prompts: dict[str, str] = {}
    for each in (each for path in paths for each in _read(path)):
        worth[each.key] = max(each.worth, worth.get(each.key, 0.0))
        prompts[each.key] = each.prompt
    order = sorted(worth, key=lambda key: (-worth[key], key))
    refused.update((key, prompts[key]) for key in order[left:])
    return frozenset(order[:left])


def _ask(
    client: Asker, paths: Iterable[Path], granted: frozenset[str], known: dict[str, Answer]
) -> None:
    """Ask what was granted, and add the answers by their keys."""
    wanted = (each for path in paths for each in _read(path) if each.key in granted)
    seen: set[str] = set()
    once = (each for each in wanted if not (each.key in seen or seen.add(each.key)))
    while batch := list(islice(once, TOGETHER)):
        answers = client.ask([each.question() for each in batch])
        known.update(zip((each.key for each in batch), answers, strict=True))


def _again(
    path: Path,
    figures: dict[str, Figures],
    known: Mapping[str, Answer],
    annotator: Annotator,
    stage: Stage,
) -> bool:
    """Annotate a block again with the answers that are known; whether new questions came up."""
    before = figures[path.stem]
    done = annotator.annotated(_documents(path.with_suffix(READ)), before.input_bytes, known)
    done.figures.dead_reasons, done.figures.llm = before.dead_reasons, before.llm
    for suffix in MADE:
        path.with_suffix(suffix).unlink(missing_ok=True)
    stage(done, path.with_suffix(""), annotator)
    figures[path.stem] = done.figures
    return done.heard is not None


def _charge(
    figures: Mapping[str, Figures], asked: dict[str, Stats], refused: Mapping[str, str]
) -> None:
    """Add the pane's cost to its first block."""
    for prompt in refused.values():
        asked.setdefault(prompt, Stats()).note(Answer(None, "fallback", SPENT))
    first = next(iter(figures.values()), None)
    if first is not None and asked:
        first.llm = documents.summed(
            first.llm, {name: each.additive() for name, each in asked.items()}
        )


def _read(path: Path) -> Iterator[_Heard]:
    with path.open(encoding="ascii") as file:
        for line in file:
            yield _Heard(*json.loads(line))


def _table(read: Documents) -> pa.Table:
    """A block's documents as they were read."""
    columns: list[tuple[pa.Field, Any]] = [
        (documents.ID, pa.array(read.ids, pa.string())),
        (documents.TEXT, pa.array(read.texts, pa.large_string())),
        (documents.ORDINAL, pa.array(read.places, pa.int64())),
        *read.fields.items(),
    ]
    schema = pa.schema(
        [column for column, _ in columns], metadata={documents.FILE: read.file.encode()}
    )
    return pa.Table.from_arrays([values for _, values in columns], schema=schema)


def _documents(path: Path) -> Documents:
    """What `_table` made a table of."""
    table = read_block(path)
    ids, texts, places = (table.column(number).to_pylist() for number in range(3))
    fields = {
        table.schema.field(number): table.column(number).combine_chunks()
        for number in range(3, table.num_columns)
    }
    return Documents(
        (table.schema.metadata or {})[documents.FILE].decode(), ids, texts, places, fields
    )
