"""The gate on files as a Beam graph: panes are read, validated, annotated and staged, then closed into shards.

What travels is a pane's number, the names of its staged blocks and their counts; documents stay in staged/. Whatever is
in staged/ without a ledger entry is thrown away at the next start.
"""

from __future__ import annotations

import dataclasses
import gc
import logging
import shutil
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import count
from pathlib import Path
from typing import Any

import apache_beam as beam
import orjson
from apache_beam.options.pipeline_options import PipelineOptions
from apache_beam.runners.portability.fn_api_runner.fn_runner import FnApiRunner
from apache_beam.utils.shared import Shared

from evenflow.gates.id_index import IdIndex
from evenflow.gates.importing import uncollected
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures, Mended
from evenflow.schemas.ledger import PaneEntry, Shard, SourceRange
from evenflow.transforms import aside, duplicates, files, sentence_table
from evenflow.transforms.annotate import Annotated, Annotator
from evenflow.transforms.record_digest import RecordDigest
from evenflow.transforms.shards import Layout, described, seal, write_block, write_shards


@dataclass(frozen=True)
class Segment:
    """Records first..last of a file, as part of a pane; order is its place there.

    offset: the byte of the file where the first one begins; None where a reader may not begin there.
    """

    file: str
    first: int
    last: int
    order: int
    offset: int | None = None


@dataclass(frozen=True)
class Pane:
    """A pane as cut from the input; the same input and configuration cut the same panes.

    size: bytes of its records. stored: bytes of all files, as stored, up to its end.
    """

    number: int
    segments: tuple[Segment, ...]
    size: int
    stored: int


class ChangedError(RuntimeError):
    """A file that is not what a committed pane has read of it; the message names it."""

    def __init__(self, source: SourceRange, pane: int):
        super().__init__(
            f"{source.file}: changed since pane {pane} read it (its records {source.first} to {source.last} are others now); "
            "put the file back as it was and run the same command again, or begin in another --output"
        )


def cut(names: Mapping[str, int], config: Config, after: PaneEntry | None = None) -> Iterator[Pane]:
    """The panes of files (with their stored sizes), by documents and MiB of input; those behind a committed one, if it is given.

    A record larger than a pane makes a pane of its own. Raises OSError, ChangedError where the last file that the committed
    pane has read is another now.
    """
    limit_docs = config.pane.docs or (1 << 62)
    limit_bytes = config.pane.mib << 20
    last = after.source[-1] if after is not None and after.source else None
    number = 0 if after is None else after.pane + 1
    docs = size = before = 0
    segments: list[Segment] = []
    for file, stored in names.items():
        if last is not None and files.shown(file) != last.file:
            before += stored
            continue
        source = files.blocks(file)
        first = at = 0
        offset = 0 if file.endswith(files.SEEKABLE) else None
        if last is not None and after is not None:
            source, first = _behind(file, last, after.pane), last.last + 1
            at, offset, last = first, None, None
        seen = 0
        for block in source:
            seen = block.stored
            if at == first and first:
                offset = block.byte(0)
            for index, weight in enumerate(block.weights()):
                if docs and (docs >= limit_docs or size + weight > limit_bytes):
                    segments += _segment(file, first, at, offset, len(segments))
                    yield Pane(number, tuple(segments), size, before + seen)
                    number, docs, size, segments, first, offset = number + 1, 0, 0, [], at, block.byte(index)
                at += 1
                docs += 1
                size += weight
            if block.fault is not None:
                at += 1  # the fault stands where the next record would
                docs += 1
        segments += _segment(file, first, at, offset, len(segments))
        before += stored
    if segments:
        yield Pane(number, tuple(segments), size, before)


def _behind(file: str, last: SourceRange, pane: int) -> Iterator[files.Block]:
    """The blocks of a file behind a range, once that was seen to be what a pane has read. Raises ChangedError, OSError."""
    digest = RecordDigest()
    rest: list[files.Block] = []
    source = files.blocks(file) if last.offset is None else files.blocks(file, last.first, last.offset)
    for block in source:
        if part := block.clip(last.first, last.last):
            digest.add(part)
        if part := block.clip(last.last + 1, block.last):
            rest.append(part)
            break
    if last.sha256 is not None and digest.hexdigest() != last.sha256:
        raise ChangedError(last, pane)
    yield from rest
    yield from source


def _segment(file: str, first: int, until: int, offset: int | None, order: int) -> list[Segment]:
    return [Segment(file, first, until - 1, order, offset)] if until > first else []


def see_unchanged(changed: Collection[str], entries: Iterable[PaneEntry]) -> None:
    """Read again what panes have read of some files. Raises ChangedError where it is something else now, OSError."""
    reader = files.Reader()
    names = {files.shown(name): name for name in changed}
    for entry in entries if changed else ():
        for source in entry.source:
            if source.file in names and source.sha256 is not None:
                digest = RecordDigest()
                for block in reader.segment(names[source.file], source.first, source.last, source.offset):
                    digest.add(block)
                if digest.hexdigest() != source.sha256:
                    raise ChangedError(source, entry.pane)


# Objects between two looks for garbage: a block's rows and sets are so many that at Python's 700 they are looked through again
# and again, for a tenth of the time, and none of them is garbage in a cycle.
YOUNG = 50_000


@dataclass(frozen=True)
class Staged:
    """A staged block: its place in the pane (segment, block), the stem of its files in staged/PANE/, and its figures."""

    place: tuple[int, int]
    stem: str
    figures: Figures


@dataclass
class Ready:
    """A pane that waits for its turn to be judged: what staged/PANE/ready.json holds."""

    figures: Figures
    shards: list[Shard]
    dead_letters: Shard | None
    sentence_table: Shard | None = None
    set_aside: Shard | None = None
    repairs: dict[str, dict[str, Any]] = field(default_factory=dict)
    stereotypes: dict[str, dict[str, Any]] = field(default_factory=dict)


class Workshop:
    """What a process keeps from pane to pane: the tables of the word lists, and the file being read."""

    def __init__(self, config: Config):
        # Tables and models live as long as the process: looking through them for garbage would take a sixth of the time.
        with uncollected():
            self.annotator = Annotator(config)
        gc.set_threshold(YOUNG)
        self.reader = files.Reader()
        self.seconds: dict[str, float] = {}
        self.failure: Exception | None = None
        self.on_block: Callable[[Figures], None] = lambda figures: None

    @contextmanager
    def timed(self, stage: str) -> Iterator[None]:
        """Add the time of a with-block to a stage."""
        began = time.perf_counter()
        try:
            yield
        finally:
            self.seconds[stage] = self.seconds.get(stage, 0.0) + time.perf_counter() - began

    @contextmanager
    def noting_failure(self) -> Iterator[None]:
        """Keep what went wrong: the runner passes on no more than its text."""
        try:
            yield
        except Exception as error:
            self.failure = error
            raise


@dataclass(frozen=True)
class Place:
    """Where a graph finds its workshop and its folder; travels with the DoFns."""

    config: dict[str, Any]
    staged: str
    root: str | None = None  # the folder that all files are in
    shared: Shared = field(default_factory=Shared)

    def workshop(self) -> Workshop:
        """This process's workshop."""
        return self.shared.acquire(lambda: Workshop(Config.model_validate(self.config)))

    def folder(self, pane: int) -> Path:
        """A pane's folder in staged/."""
        return Path(self.staged) / f"{pane:08d}"


def digest_file(folder: Path, segment: Segment) -> Path:
    """Where a pane's folder keeps the digest of what was read of a segment."""
    return folder / f"{segment.order:06d}.sha256"


class ReadAndAnnotate(beam.DoFn):
    """(pane, segment) -> (pane, Staged) for each block: its table goes to staged/ as Arrow, its dead letters as JSON lines."""

    def __init__(self, place: Place):
        self._place = place

    def process(self, element: tuple[int, Segment]) -> Iterator[tuple[int, Staged]]:
        pane, segment = element
        shop, folder = self._place.workshop(), self._place.folder(pane)
        with shop.noting_failure():
            source = shop.reader.segment(segment.file, segment.first, segment.last, segment.offset)
            digest = RecordDigest()
            for number in count():
                with shop.timed("read"):
                    block = next(source, None)
                    if block is not None:
                        digest.add(block)
                if block is None:
                    digest_file(folder, segment).write_text(digest.hexdigest())
                    return
                with shop.timed("annotate"):
                    done = shop.annotator.annotate(block, self._place.root)
                stem = f"{segment.order:06d}-{number:06d}"
                with shop.timed("stage"):
                    stage(done, folder / stem, shop.annotator)
                shop.on_block(done.figures)
                yield pane, Staged((segment.order, number), stem, done.figures)


class ClosePane(beam.DoFn):
    """(pane, its Staged blocks) -> staged/PANE/ with shards, dead letters and ready.json, the mark that it can be judged."""

    def __init__(self, place: Place):
        self._place = place

    def process(self, element: tuple[int, Iterable[Staged]]) -> None:
        pane, blocks = element
        shop = self._place.workshop()
        with shop.noting_failure(), shop.timed("shards"):
            close_pane(pane, sorted(blocks, key=lambda each: each.place), self._place.folder(pane), shop.annotator)


class ListStaged(beam.DoFn):
    """(pane, its Staged blocks) -> staged/PANE/blocks.json: the pane is whole, and is closed by who commits it."""

    def __init__(self, place: Place):
        self._place = place

    def process(self, element: tuple[int, Iterable[Staged]]) -> None:
        pane, blocks = element
        with self._place.workshop().noting_failure():
            listed = [dataclasses.asdict(each) for each in sorted(blocks, key=lambda each: each.place)]
            (self._place.folder(pane) / "blocks.json").write_bytes(orjson.dumps(listed))


def read_staged(folder: Path) -> list[Staged]:
    """What ListStaged wrote."""
    found = orjson.loads((folder / "blocks.json").read_bytes())
    return [Staged(tuple(each["place"]), each["stem"], Figures.read(each["figures"])) for each in found]


def stage(done: Annotated, path: Path, annotator: Annotator) -> None:
    """Write a block's files, which have the names path.SUFFIX. Raises OSError."""
    if done.table.num_rows:
        write_block(done.table, path.with_suffix(".arrow"))
        if annotator.proposer is not None and done.details is not None:
            from evenflow.transforms import proposals  # it loads models and a solver, which are not needed without

            proposals.write(path.with_suffix(proposals.SUFFIX), done.details.proposed)
    if done.details is not None:
        write_block(done.details.rows.table(), path.with_suffix(sentence_table.SUFFIX))
    if done.aside is not None:
        write_block(done.aside, path.with_suffix(aside.SUFFIX))
    if annotator.tier is not None:
        from evenflow.transforms.llm import llm_pane  # as above

        llm_pane.keep(path, done.heard)
    write_letters(path.with_suffix(".jsonl"), done.dead)


def close_pane(pane: int, blocks: list[Staged], folder: Path, annotator: Annotator, index: IdIndex | None = None) -> None:
    """Ask what a budget allows, take duplicates out, repair, sum the figures, write shards and the dead-letter file, remove the
    blocks, mark the pane ready. index: of the ids of all panes before, where these count."""
    figures = {each.stem: each.figures for each in blocks}
    if annotator.tier is not None:
        from evenflow.transforms.llm import llm_pane  # it is there wherever a language model is

        figures = llm_pane.settled(figures, folder, annotator, stage)
    stems = [each.stem for each in blocks]
    known = None if index is None else index.known(duplicates.ids(folder, stems))
    for stem, doubles in duplicates.repeated(folder, stems, known):
        figures[stem], letters = duplicates.drop(folder, stem, doubles, annotator, figures[stem])
        write_letters(folder / f"{stem}.jsonl", letters)
    staged = [path for stem in stems if (path := folder / f"{stem}.arrow").exists()]
    closed = {folder / f"{stem}.arrow": each for stem, each in figures.items()}
    if annotator.repairs:
        from evenflow.transforms import mending  # as above

        mended = mending.mend(closed, folder, pane, annotator)
    else:
        mended = Mended.unchanged(closed.values())
    config = annotator.config
    layout = Layout(annotator.attributes, config.fields.text, config.fields.id, config.shards.rows)
    shards = write_shards(staged, folder, pane, layout)
    set_aside = aside.write([folder / f"{stem}{aside.SUFFIX}" for stem in stems], folder, pane, layout)
    letters = _join_letters(folder, stems, pane)
    for path in staged:
        path.unlink()
    ready = {
        "figures": dataclasses.asdict(mended.figures),
        "shards": [shard.model_dump() for shard in shards],
        "dead_letters": letters.model_dump() if letters else None,
        "sentence_table": mended.sentences.model_dump() if mended.sentences else None,
        "repairs": mended.repairs,
        "stereotypes": mended.stereotypes,
        "set_aside": set_aside.model_dump() if set_aside else None,
    }
    (folder / "ready.json").write_bytes(orjson.dumps(ready))


def write_letters(path: Path, letters: list[dict[str, Any]]) -> None:
    """Add dead letters to a block's file."""
    if letters:
        with path.open("ab") as file:
            file.write(b"".join(orjson.dumps(each) + b"\n" for each in letters))


def _join_letters(folder: Path, stems: list[str], pane: int) -> Shard | None:
    parts = [part for stem in stems if (part := folder / f"{stem}.jsonl").exists()]
    if not parts:
        return None
    path, rows = folder / f"part-{pane:08d}.jsonl", 0
    with path.open("wb") as out:
        for part in parts:
            with part.open("rb") as lines:
                for line in sorted(lines, key=lambda line: orjson.loads(line)["ordinal"]):
                    out.write(line)
                    rows += 1
            part.unlink()
    seal(path)
    return described(path, rows)


def graph(source: beam.Pipeline, panes: list[Pane], place: Place) -> None:
    """Draw the graph: segments -> read, validate, annotate, stage -> the blocks of a pane -> shards, but where that is left to
    who commits the panes one after the other."""
    alone = place.workshop().annotator.config.duplicates.scope == "pane"
    _ = (
        source
        | "Segments" >> beam.Create([(pane.number, segment) for pane in panes for segment in pane.segments])
        | "Read, annotate, stage" >> beam.ParDo(ReadAndAnnotate(place))
        | "Blocks of a pane" >> beam.GroupByKey()
        | "Close a pane" >> beam.ParDo(ClosePane(place) if alone else ListStaged(place))
    )


def run_graph(panes: list[Pane], place: Place) -> dict[str, float]:
    """Run the graph over some panes in this process; seconds by stage. Leftovers of an earlier try are removed.

    Raises what a step raised: OSError above all.
    """
    began = time.perf_counter()
    logging.getLogger("apache_beam").setLevel(logging.CRITICAL)  # a step's failure is raised here, and told by who called
    for pane in panes:
        folder = place.folder(pane.number)
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
    shop = place.workshop()
    shop.seconds, shop.failure = {}, None
    try:
        with beam.Pipeline(runner=FnApiRunner(), options=PipelineOptions([])) as source:
            graph(source, panes, place)
    except Exception as error:
        if shop.failure is not None:
            raise shop.failure from error
        raise
    return {**shop.seconds, "beam": time.perf_counter() - began - sum(shop.seconds.values())}


def read_ready(folder: Path) -> Ready:
    """What close_pane wrote."""
    data = orjson.loads((folder / "ready.json").read_bytes())

    def shard(name: str) -> Shard | None:
        return Shard.model_validate(data[name]) if data[name] else None

    return Ready(
        Figures.read(data["figures"]),
        [Shard.model_validate(each) for each in data["shards"]],
        shard("dead_letters"),
        shard("sentence_table"),
        shard("set_aside"),
        data["repairs"],
        data["stereotypes"],
    )
