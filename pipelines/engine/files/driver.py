"""The driver of `evenflow run` on files: cuts panes, runs the graph, commits panes in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from evenflow.gates import hold
from evenflow.gates.lease import Lease
from evenflow.gates.ledger import files as ledger
from evenflow.gates.ledger import output_files
from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine.files import cutting, making, workers
from evenflow.pipelines.engine.files.cutting import Pane
from evenflow.pipelines.engine.files.intake import Intake, Rest
from evenflow.pipelines.engine.panes import closing, columns, commit, epochs
from evenflow.pipelines.engine.panes.epochs import RunError as RunError  # raised by a run
from evenflow.pipelines.terminal.outcome import Observer, Outcome, PaneProgress
from evenflow.schemas.config import Config
from evenflow.schemas.documents import own_columns
from evenflow.schemas.hidden import MASKED
from evenflow.schemas.ledger import FORMAT, Epoch, PaneEntry
from evenflow.transforms.annotation.annotate import attributes
from evenflow.transforms.io import files, first_records
from evenflow.transforms.measures import registry
from evenflow.transforms.storage.storage import Place, at
from evenflow.wordlists.loader import WordList


@dataclass
class Run:
    """One run of the gate on files.

    Attributes:
        inputs: Paths, folders or globs.
        output: The output: a directory, or an address in a store.
        workers: Number of processes that read; 1: this one.
        options: Of Beam's runner, on whose workers the graph runs; none: this machine's.
        standby: Wait for as long as another run writes to the output.
        follow: Read on when the input has grown; a pane that is not full is committed when nothing
            has come for so many seconds. None: end at the input's end.
        observer: Hears how the run goes on.
        debug: Whether what Beam and its runner log and print is shown.
        final: Whether a last line without an end that is no whole record, or a compressed member
            that is cut off, is read as it is, and does not wait for a later run.
    """

    inputs: list[str]
    output: Place
    config: Config
    workers: int = 1
    options: Sequence[str] = ()
    standby: bool = False
    follow: float | None = None
    observer: Observer = field(default_factory=Observer)
    debug: bool = False
    final: bool = False

    def __post_init__(self) -> None:
        """Take a path for the storage there."""
        self.output = at(self.output)

    def go(self) -> Outcome:
        """Run to the end of the input, or until the gate is held.

        Raises:
            RunError: The output was begun with other settings.
            ChangedError: A file has changed since a pane read it.
            InputError: The input names no file, or a file cannot be read as its kind.
            LedgerError: The ledger is damaged.
            LockedError: Another run writes to the output.
            FencedError: Another run has taken over.
            WorkerError: A worker process died, or the runner failed.
            WordListError: A word list cannot be used.
            SuiteError: The user's suite of checks cannot be used.
            OSError: A file cannot be read or written.
        """
        note = self.observer.note
        intake = Intake(self.inputs, at(self.output), self.follow, note, self.final)
        intake.strict = self.config.strict_input
        found = intake.look(ledger.read_meta(self.output) or {})
        first_records.check_text_field(list(found), self.config.fields)
        lists = self.config.word_lists()
        registry.look(self.config, note)
        commit.make_folders(self.output)
        lease = Lease(self.output, self.standby, note)
        if (health := self.observer.health) is not None:  # a file that cannot be read ends the run
            health.lease, health.silence = lease, lambda: 0.0
        with lease, ExitStack() as beside:
            bytes_found = {files.printable(name): each.bytes for name, each in found.items()}
            record = settings(self.config, lists, {"input": bytes_found})
            start = begin(self.output, lease, record, self.config, lists)
            entries, known = start.entries, ledger.read_meta(self.output) or {}
            intake.compare(found, entries, known)
            rest = intake.rest(found, entries, known)
            root = intake.root(found, known)

            def write(rest: Rest, finished: bool = False) -> None:
                self._write(record, finished, intake, rest, root)

            write(rest, start.finished)
            for text in start.notes:
                note(text)
            if start.finished and self.follow is None:
                return Outcome(entries, 0)
            if held := hold.held_reason(self.output, entries.totals, self.config.gate.policy):
                return Outcome(entries, 0, held)
            committer = commit.Committer(
                self.output, self.config, lists, entries, lease, start.epoch, note
            )
            staging = closing.Staging(at(self.output), lease.run)
            context = making.GraphContext(self.config.model_dump(), staging, root, self.workers)
            panes = self._panes(rest, intake, entries, write)
            executor = beside.enter_context(workers.pool(self.workers))
            source = self._made(rest, panes, context, entries, executor)
            outcome = self._read(source, intake, context, committer, executor)
            if not outcome.held:
                intake.compare_again(found, entries, ledger.read_meta(self.output) or {})
                write(rest, True)
            return outcome

    def _write(
        self,
        record: dict[str, Any],
        finished: bool,
        intake: Intake,
        rest: Rest,
        root: str,
    ) -> None:
        """Write what has been found to meta.json, unless it says so already."""
        known = ledger.read_meta(self.output) or {}
        new = {"earlier": rest.earlier, "stored": intake.facts(), "root": root}
        new["finished"] = finished
        if intake.unread or "left_out" in known:
            new["left_out"] = intake.unread
        if columns.KEY not in known or rest.earlier != known.get("earlier"):  # a new round
            lists = self.config.word_lists()
            own = frozenset(own_columns(attributes(self.config, lists)))
            found = columns.sampled(rest.names, self.config, own)
            new[columns.KEY] = columns.noted(known, rest.begin.pane, found)
        same = {key: known.get(key) for key in new} == new
        if not same or known["settings"]["input"] != rest.input:
            write_meta(self.output, {**record, "input": rest.input}, self.config, **new)

    def _read(
        self,
        source: Generator[int, None, None],
        intake: Intake,
        context: making.GraphContext,
        committer: commit.Committer,
        executor: Executor,
    ) -> Outcome:
        """Commit panes as they are made, until the gate is held."""
        done = len(committer.entries)
        held: str | None = None
        began = time.perf_counter()
        try:
            for pane in source:
                entry, read = _commit(pane, context, committer)
                now = time.perf_counter()
                committer.note_timings(entry, now - began, read.timings)
                how_far = intake.now.done(entry.source[-1].file, read.stored)
                self.observer.pane(PaneProgress(entry, now - began, *how_far))
                began = now
                if held := committer.held():
                    break
        finally:
            source.close()

        committer.finish()
        commit.clear_staged(self.output, context.staging.run)
        return Outcome(committer.entries, len(committer.entries) - done, held)

    def _made(
        self,
        rest: Rest,
        panes: Iterator[Pane | None],
        context: making.GraphContext,
        entries: History,
        executor: Executor,
    ) -> Generator[int, None, None]:
        """Make panes; gives the number of each, in order, when it is there."""
        if len(entries):  # a file may change and leave no other trace
            last = entries[-1].source[-1].file
            cutting.check_unchanged(
                [each for each in rest.names if files.printable(each) == last], [entries[-1]]
            )
        if self.options:
            # Imported here: Beam takes a second, which a run on this machine need not wait for
            from evenflow.pipelines.engine.files import graph

            return graph.made(
                rest.names, context, rest.begin, list(self.options), self.observer.note, self.debug
            )
        if self.workers == 1:
            context.worker().on_block = self.observer.block
        return workers.made(panes, context, executor, self.workers)

    def _panes(
        self, rest: Rest, intake: Intake, entries: History, write: Callable[[Rest], None]
    ) -> Iterator[Pane | None]:
        """Cut the rest; of an input that is followed, what comes later too, with None at a pause.

        All that was cut before a pause is committed when the next pane is asked for.
        """
        rest.whole = self.follow is not None
        yield from cutting.panes(rest.names, self.config, rest.begin, rest.whole)
        if self.follow is None:
            return
        yield None
        for more in intake.followed(entries, lambda: ledger.read_meta(self.output) or {}):
            cut = cutting.panes(more.names, self.config, more.begin, more.whole)
            for number, pane in enumerate(cut):
                if not number:  # a round is noted before its first pane is made
                    write(more)
                yield pane
            yield None


def _commit(
    pane: int, context: making.GraphContext, committer: commit.Committer
) -> tuple[PaneEntry, closing.Source]:
    """Commit a pane that was made; returns its entry and what was read for it."""
    output = context.staging.output
    folder = context.staging.find(pane)
    assert folder is not None
    if not committer.closes:
        ready = closing.read_ready(output, folder)
    else:
        worker = context.worker()
        with output.folder(folder) as local:
            staged, source, mended = closing.read_staged(output, folder, local)
            if mended is None:
                mended = closing.mend_pane(pane, staged, local, worker.annotator, committer.index)
            known = columns.columns(ledger.read_meta(output), pane)
            ready = committer.close(staged, local, worker.annotator, worker.checks, mended, known)
            ready.source = source
    source = ready.source
    return committer.commit(folder, ready, source.ranges, source.timings), source


def settings(config: Config, lists: list[WordList], source: dict[str, Any]) -> dict[str, Any]:
    """Collect the settings that a ledger keeps of a run.

    `source`: What is read: input (bytes by path) or stream.
    """
    kept = config.model_dump()
    # A run may go on with other values of these, which do not change what is measured or committed
    del kept["gate"]["policy"], kept["measure"]["epsilon"]
    kept.pop("strict_input", None)
    for name in ("kafka", "metrics", "alerts", "finetune", "triggers"):
        del kept[name]
    # These say where and how a model is asked, and not what is asked
    for name in ("url", "key", "cache", "cache_mib", "deadline", "concurrency"):
        del kept["llm"][name]
    lists_read = {"wordlists": epochs.list_digests(lists), **registry.digests(config)}
    return {"configuration": kept, **lists_read, **source}


@dataclass
class RunStart:
    """A run at its start."""

    entries: History
    finished: bool
    epoch: Epoch
    notes: Sequence[str] = ()


def begin(
    output: Place, lease: Lease, record: dict[str, Any], config: Config, lists: list[WordList]
) -> RunStart:
    """Check that a run may go on with its output, and write its settings and a new epoch."""
    entries = History(output, config, repair=True)
    commit.recover(output, entries, lease.run)
    notes: list[str] = []
    every = "evenflow gate verify --files"
    strays, more = output_files.strays(at(output), entries)
    for what, names in (
        ("not in the ledger, and so no part of the output", strays),
        ("the ledger names it, and it is gone", output_files.missing(at(output), entries)),
    ):
        if names:
            many = f"{len(names):,} such files; {every} names all"
            notes.append(f"{at(output).address(names[0])}: {what} ({many})")
    if more:
        notes.append(
            f"{at(output).address('accepted')} and quarantine have {abs(more):,} files"
            f" {'more' if more > 0 else 'fewer'} than the ledger has of older panes; {every}"
            " names them"
        )
    now = epochs.program(config, lists, record.get("input", ()))
    known = ledger.read_meta(output)
    if known is None:
        first = Epoch(program=now)
        write_meta(output, record, config, finished=False, epochs=[first.model_dump()])
        return RunStart(entries, False, first, notes)
    epoch = epochs.continued(output, known, record, now, lists, entries.totals)
    before = known.get("epochs") or [Epoch().model_dump()]
    noted = known["settings"].get("input")
    finished = bool(known["finished"]) and noted == record.get("input")
    if finished or epoch.number == before[-1]["number"]:
        return RunStart(entries, finished, epoch, notes)
    kept = record if noted is None else {**record, "input": noted}  # what was found is noted later
    write_meta(output, kept, config, bool(known["finished"]), epochs=[*before, epoch.model_dump()])
    notes.append(f"epoch {epoch.number} begins with pane {epoch.pane}: {'; '.join(epoch.changes)}")
    return RunStart(entries, False, epoch, notes)


def write_meta(
    output: Place, record: dict[str, Any], config: Config, finished: bool, **more: Any
) -> None:
    """Write ledger/meta.json."""
    known = ledger.read_meta(output) or {}
    lasting = ("epochs", "earlier", "stored", "root", "topic", "left_out", columns.KEY)
    kept = {key: known[key] for key in lasting if key in known}
    meta = {
        "version": FORMAT,
        "settings": record,
        "configuration": config.model_dump(context=MASKED),
        "finished": finished,
    }
    ledger.write_meta(output, {**meta, **kept, **more})
