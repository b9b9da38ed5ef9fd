"""Stages the blocks of a pane, and closes them into shards that are ready to be judged."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import chain, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import orjson
import pyarrow as pa
from pydantic import TypeAdapter

from evenflow.gates.expectations.checks import PaneChecks
from evenflow.pipelines.engine.panes import sources
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures, RepairedPane, mentions
from evenflow.schemas.ledger import (
    Checks,
    Removed,
    Shard,
    SourceRange,
    StreamPane,
    Sums,
    Weights,
)
from evenflow.transforms.annotation import duplicates
from evenflow.transforms.annotation.annotate import Annotated, Annotator
from evenflow.transforms.staging import aside
from evenflow.transforms.staging.block import Part, StagedBlock
from evenflow.transforms.staging.shards import Outside, ShardLayout, seal, write_shards
from evenflow.transforms.storage.storage import Storage

if TYPE_CHECKING:
    from evenflow.gates.ledger.id_index import IdIndex

TOGETHER = 16  # panes that are committed together at most, in an object store
# A pane may have thousands of these: together they are made in a fifth of the time
RANGES = TypeAdapter(list[SourceRange])


@dataclass(frozen=True)
class Staged:
    """A staged block.

    Attributes:
        place: Its place in the pane: 0 and the number of the block; of a topic, partition and
            offset.
        stem: The name of its files in staged/PANE/, without suffix.
    """

    place: tuple[int, int]
    stem: str
    figures: Figures


@dataclass
class Source:
    """What a worker has read for a pane.

    Attributes:
        stored: Stored bytes of the pane's last file that are read.
        stream: Span and positions of a pane of a topic; None: of files.
        columns: The columns of its shards, as `columns.packed` has them; None: none were decided.
    """

    ranges: list[SourceRange] = field(default_factory=list)
    stored: int = 0
    timings: dict[str, float] = field(default_factory=dict)
    stream: StreamPane | None = None
    columns: str | None = None

    def to_json(self) -> dict[str, Any]:
        """Return it as what JSON can hold."""
        stream = None if self.stream is None else self.stream.model_dump()
        ranges = RANGES.dump_python(self.ranges)
        return {**vars(self), "ranges": ranges, "stream": stream}

    @classmethod
    def read(cls, data: dict[str, Any]) -> Source:
        """Return it from what `to_json` returned."""
        stream = data["stream"] and StreamPane.model_validate(data["stream"])
        ranges = RANGES.validate_python(data["ranges"])
        return cls(**{**data, "ranges": ranges, "stream": stream})


def driver_closes(config: Config) -> bool:
    """Whether the driver closes panes, in their order: what becomes of one depends on others.

    So it is where duplicates are looked for in the whole run, weights go on from earlier panes, or
    documents are set aside by the rolling score.
    """
    return (
        config.duplicates.scope == "run" or config.has_weights or config.gate.scope == "documents"
    )


@dataclass
class Ready:
    """A pane that waits to be judged: what ready.json in its folder holds.

    `dead_letters`: The file of its dead letters; None: there are none. `sentence_table`: The table
    of its sentences; None: it has no rows. `set_aside`: The file of documents that were set aside;
    None: there are none. `left_out`: The file of documents that a sample left out; None: there are
    none. `removed`: What gate.scope: documents did; None: nothing had to go.
    """

    figures: Figures
    shards: list[Shard]
    dead_letters: Shard | None
    sentence_table: Shard | None = None
    set_aside: Shard | None = None
    repairs: dict[str, dict[str, Any]] = field(default_factory=dict)
    weights: Weights | None = None
    weighed: dict[str, Sums] = field(default_factory=dict[str, Sums])
    left_out: Shard | None = None
    checks: Checks = field(default_factory=lambda: Checks(success=True, evaluated=0, failures=[]))
    results: list[dict[str, Any]] = field(default_factory=list)
    source: Source = field(default_factory=Source)
    removed: Removed | None = None
    strata: list[tuple[str, int]] = field(default_factory=list[tuple[str, int]])

    @property
    def files(self) -> list[Shard]:
        """All files of the pane that a commit gives a place."""
        others = (self.dead_letters, self.set_aside, self.left_out, self.sentence_table)
        return [*self.shards, *(each for each in others if each is not None)]

    def write(self, folder: Path) -> None:
        """Write the pane's ready.json. Raises OSError."""
        (folder / "ready.json").write_bytes(READY.dump_json(self))


READY = TypeAdapter(Ready)


@dataclass(frozen=True)
class Staging:
    """Where the workers of a run leave panes until they are committed.

    Several workers may try the same pane at once, when a runner takes one for dead. Each try has
    a folder of its own. The first finished one makes the pane's marker, and that one counts.
    """

    output: Storage
    run: str

    @contextmanager
    def pane(self, pane: int) -> Iterator[Path]:
        """Make a pane: when the block ends without an error, the pane is there for the committer.

        Args:
            pane: The pane's number.

        Yields:
            A local folder for the pane's files.

        Raises:
            OSError: A file cannot be written.
        """
        name = self.name(f"{pane:012d}.{uuid4().hex[:8]}")
        with self.output.folder(name) as folder:
            yield folder
        if not self.output.create(self._marker(pane), name.encode(), durable=False):
            self.output.remove_tree(name)

    def found(self, first: int, most: int = TOGETHER) -> dict[int, str]:
        """Return the folders of panes that wait to be committed, by number, from `first` on."""
        names = map(self._marker, range(first, first + most))
        read = chain.from_iterable(map(self.output.read_all, ([next(names)], names)))
        there = takewhile(lambda folder: folder is not None, read)
        return {first + number: folder.decode() for number, folder in enumerate(there) if folder}

    def remove(self, pane: int, folder: str) -> None:
        """Delete what a committed pane left. Raises OSError."""
        self.output.remove([self._marker(pane)])
        self.output.remove_tree(folder)

    def waiting(self) -> int:
        """Return how many panes wait to be committed. Raises OSError."""
        return sum(name[:1].isdigit() for name in self.output.names(f"staged/{self.run}"))

    def name(self, file: str) -> str:
        """Return the name in the output of a file of this run."""
        return f"staged/{self.run}/{file}"

    def _marker(self, pane: int) -> str:
        return self.name(f"{pane:012d}.json")


def stage(done: Annotated, block: StagedBlock, annotator: Annotator) -> None:
    """Write the parts of an annotated block.

    Raises:
        OSError: A file cannot be written.
    """
    if done.table.num_rows:
        block.write(Part.DOCUMENTS, done.table)
        if annotator.proposer is not None and done.details is not None:
            block.write_lines(Part.PROPOSALS, (each.line() for each in done.details.proposed))
    if done.details is not None:
        block.write(Part.SENTENCES, done.details.rows.table())
    if done.aside is not None:
        block.write(Part.ASIDE, done.aside)
    if done.deferred is not None:
        # It loads the client of a language model, which other runs do not need
        from evenflow.transforms.annotation import second_pass

        second_pass.write(block, done.deferred)
    block.add_letters(done.dead)


def mend_pane(
    pane: int,
    blocks: list[Staged],
    folder: Path,
    annotator: Annotator,
    index: IdIndex | None = None,
) -> RepairedPane:
    """Remove the duplicates of a pane, and repair its texts.

    The questions to a language model are asked first.

    Args:
        blocks: Its blocks, in source order.
        index: Ids of all earlier panes; None: a duplicate counts within the pane only.

    Raises:
        OSError: A file cannot be read or written.
    """
    figures = {StagedBlock(folder, each.stem): each.figures for each in blocks}
    if annotator.tier is not None:
        # As in stage
        from evenflow.transforms.annotation import second_pass

        figures = second_pass.spend_budget(figures, annotator, stage)
    staged = list(figures)
    known = None if index is None else index.known(duplicates.read_ids(staged))
    for block, found in duplicates.find(staged, known):
        figures[block] = duplicates.drop(block, found, annotator, figures[block])
    if annotator.repairs:
        # It loads models and a solver, which are not needed without
        from evenflow.transforms.repair import rebuild

        mended = rebuild.repair(figures, folder, pane, annotator)
    else:
        mended = RepairedPane.unchanged(figures.values())
    if annotator.config.measure.count == "people":
        from evenflow.transforms.annotation import people  # as above

        people.resolve(mended.figures, annotator.config)
    return mended


def close_pane(
    pane: int,
    blocks: list[Staged],
    folder: Path,
    annotator: Annotator,
    checks: PaneChecks,
    mended: RepairedPane,
    columns: Sequence[pa.Field] | None = None,
    accepted: Mapping[str, Sequence[float]] | None = None,
) -> Ready:
    """Close a pane that was mended: weigh it, write shards and dead letters, check them.

    The files of the blocks are deleted.

    `columns`: Columns of the input's other fields; None: those of this pane.
    """
    staged = [StagedBlock(folder, each.stem) for each in blocks]
    config, figures = annotator.config, mended.figures
    own = config.fields
    layout = ShardLayout(
        annotator.attributes, own.column, own.id, config.shards.rows, columns, own.paths
    )
    weighed, give, left_out = None, None, None
    if config.has_weights:
        # As in mend_pane
        from evenflow.transforms.repair import output_as, weigh

        full = [block for block in staged if block.has(Part.DOCUMENTS)]
        weighed = weigh.weigh(full, annotator.attributes, config, accepted or {})
        figures.text_bytes = weighed.text_bytes
        if (times := weighed.times) is None:
            give = output_as.as_column(weighed.weights)
        else:
            give = output_as.as_copies(times, weighed.ids)
            figures.documents += weighed.record.copies - weighed.record.left_out
            read = (each.read(Part.DOCUMENTS) for each in full)
            tables = map(output_as.left_out, read, times, weighed.weights)
            left_out = aside.write_tables(tables, folder / left_out_name(pane), layout)
    outside = Outside()
    shards = write_shards(staged, folder, pane, layout, give, outside.add)
    outside.note(figures)
    strata = sources.runs(
        (each.read(Part.DOCUMENTS) for each in staged if each.has(Part.DOCUMENTS)), config
    )
    set_aside = aside.write(staged, folder, pane, layout)
    letters = _join_letters(staged, folder, pane)
    for block in staged:
        block.remove()
    table = mended.sentences
    drawn = weighed.sums if weighed is not None and weighed.times is not None else {}
    checked, results = checks.check(
        pane,
        [folder / shard.name for shard in shards],
        pane_mentions(mended, annotator, drawn),
        figures.documents,
        None if table is None else (folder / table.name, table.rows),
    )
    return Ready(
        figures,
        shards,
        letters,
        mended.sentences,
        set_aside,
        mended.repairs,
        weighed.record if weighed is not None else None,
        weighed.sums if weighed is not None else {},
        left_out,
        checked,
        results,
        strata=strata,
    )


def left_out_name(pane: int) -> str:
    """The name of the file of documents that a sample of a pane leaves out."""
    return f"part-{pane:08d}-left.parquet"


def pane_mentions(
    mended: RepairedPane, annotator: Annotator, drawn: Mapping[str, Sums]
) -> dict[str, int]:
    """A pane's mentions, by the column of the shards that has them; of a sample those drawn."""
    found: dict[str, int] = {}
    for words in annotator.lists:
        name = words.attribute
        seen = mended.figures.attributes.get(name)
        counts = [0] * len(words.groups) if seen is None else seen.counts
        if repair := mended.repairs.get(name):
            counts = repair["mentions"]
        if name in drawn:
            counts = [round(count) for count in drawn[name].counts]
        found |= {mentions(name, group): n for group, n in zip(words.groups, counts, strict=True)}
    return found


def _join_letters(staged: list[StagedBlock], folder: Path, pane: int) -> Shard | None:
    """Write a pane's dead letters from its blocks', in source order; None if it has none."""
    blocks = [block for block in staged if block.has(Part.LETTERS)]
    if not blocks:
        return None
    path, rows = folder / f"part-{pane:08d}.jsonl", 0
    with path.open("wb") as out:
        for block in blocks:
            letters = map(orjson.loads, block.lines(Part.LETTERS))
            for letter in sorted(letters, key=lambda each: (each["file"], each["ordinal"])):
                out.write(orjson.dumps(letter) + b"\n")
                rows += 1
    return seal(path, rows)


def read_ready(output: Storage, folder: str) -> Ready:
    """Read what `Ready.write` wrote."""
    return READY.validate_json(output.read(f"{folder}/ready.json"))


def list_staged(
    folder: Path, blocks: list[Staged], source: Source, mended: RepairedPane | None
) -> None:
    """List the blocks of a pane that the driver closes, in folder/blocks.json."""
    data = {
        "blocks": [dataclasses.asdict(each) for each in blocks],
        "source": source.to_json(),
        "mended": None if mended is None else mended.to_json(),
    }
    (folder / "blocks.json").write_bytes(orjson.dumps(data))


def read_staged(
    output: Storage, name: str, folder: Path
) -> tuple[list[Staged], Source, RepairedPane | None]:
    """Read what list_staged wrote, and bring the blocks' files from an object store.

    Files are asked for by their names, since a store may list a file late.
    """
    found = orjson.loads(output.read(f"{name}/blocks.json"))
    blocks = [
        Staged(tuple(each["place"]), each["stem"], Figures.read(each["figures"]))
        for each in found["blocks"]
    ]
    mended = found["mended"] and RepairedPane.read(found["mended"])
    if output.local is None:
        names = [f"{each.stem}{part}" for each in blocks for part in Part]
        if mended is not None and mended.sentences is not None:
            names.append(mended.sentences.name)
        whole = output.read_all([f"{name}/{each}" for each in names])
        for each, data in zip(names, whole, strict=True):
            if data is not None:
                (folder / each).write_bytes(data)
    return blocks, Source.read(found["source"]), mended
