"""The driver of `evenflow run` on files: cuts panes, runs the graph, commits panes in order."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

from evenflow.gates import hold
from evenflow.gates.lease import Lease
from evenflow.gates.ledger import files as ledger
from evenflow.gates.ledger.history import History
from evenflow.pipelines.files import cutting, making, workers
from evenflow.pipelines.panes import closing, commit, epochs
from evenflow.pipelines.panes.epochs import RunError as RunError  # raised by a run
from evenflow.pipelines.terminal.outcome import Outcome, PaneProgress
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.schemas.epoch import Epoch
from evenflow.schemas.hidden import MASKED
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.coverage import lookup
from evenflow.transforms.io import files, first_records
from evenflow.transforms.storage.storage import Place, Storage, Stored, at
from evenflow.wordlists.loader import WordList


@dataclass
class Run:
    """One run of the gate on files.

    Attributes:
        inputs: Paths, folders or globs.
        output: The output: a directory, or an address in a store.
        config: The configuration.
        workers: Number of processes that read; 1: this one.
        options: Of Beam's runner, on whose workers the graph runs; none: this machine's.
        standby: Wait for as long as another run writes to the output.
        on_pane: Called after each commit.
        on_block: Called after each block read, with one worker only.
        on_note: Called with what a user should know.
        debug: Whether what Beam and its runner log and print is shown.
    """

    inputs: list[str]
    output: Place
    config: Config
    workers: int = 1
    options: Sequence[str] = ()
    standby: bool = False
    on_pane: Callable[[PaneProgress], None] = lambda progress: None
    on_block: Callable[[Figures], None] = lambda figures: None
    on_note: Callable[[str], None] = lambda text: None
    debug: bool = False

    def __post_init__(self) -> None:
        """Take a path for the storage there."""
        self.output = at(self.output)

    def go(self) -> Outcome:
        """Run to the end of the input, or until the gate is held.

        Returns:
            How the run ended.

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
        found = {
            name: each
            for name, each in files.find(self.inputs, self._on_output).items()
            if not _is_below(name, at(self.output))
        }
        names = {name: each.bytes for name, each in found.items()}
        if not names:
            raise files.InputError(
                f"{', '.join(self.inputs)}: nothing there but this run's own output"
            )
        first_records.check_text_field(list(names), self.config.fields.text)
        lists = self.config.word_lists()
        lookup.look(self.config.coverage, self.on_note)
        commit.make_folders(self.output)
        with Lease(self.output, self.standby, self.on_note) as lease:
            record = settings(
                self.config,
                lists,
                {"input": {files.printable(name): size for name, size in names.items()}},
            )
            start = begin(self.output, lease, record, self.config, lists)
            entries = start.entries
            self._check_unchanged(found, record, entries, start.finished)
            if start.finished:
                return Outcome(entries, 0)
            if start.note:
                self.on_note(start.note)
            if held := hold.held_reason(self.output, entries.totals, self.config.gate.policy):
                return Outcome(entries, 0, held)
            committer = commit.Committer(
                self.output, self.config, lists, entries, lease, start.epoch, self.on_note
            )
            outcome = self._read(names, committer, lease)
            if not outcome.held:
                after = files.find(self.inputs)
                gone = Stored("", 0)
                self._check_unchanged(
                    {name: after.get(name, gone) for name in names}, record, committer.entries, True
                )
            return outcome

    def _on_output(self, folder: str) -> None:
        """Tell of an output in the input, unless it is this run's own."""
        if not _is_below(f"{folder}/{ledger.META}", at(self.output)):
            self.on_note(files.left_out(folder))

    def _check_unchanged(
        self,
        found: dict[str, Stored],
        record: dict[str, Any],
        entries: Sequence[PaneEntry],
        finished: bool,
    ) -> None:
        """Check that what panes have read is unchanged, and note the files' times.

        Only files whose size or time has changed are read again. Raises ChangedError, OSError.
        """
        meta = ledger.read_meta(self.output) or {}
        known = meta.get("modified") or {}
        now = {files.printable(name): _version(each) for name, each in found.items()}
        sizes = meta.get("settings", {}).get("input") or {}
        doubtful = {
            name
            for name, each in found.items()
            if known.get(files.printable(name), _version(each)) != _version(each)
        }
        doubtful |= {
            name
            for name, each in found.items()
            if sizes.get(files.printable(name), each.bytes) != each.bytes
        }
        cutting.check_unchanged(doubtful, entries)
        if now != known or finished != meta.get("finished"):
            write_meta(self.output, record, self.config, finished, modified=now)

    def _read(self, names: dict[str, int], committer: commit.Committer, lease: Lease) -> Outcome:
        """Read the rest of the files and commit their panes, until the gate is held."""
        output, done = at(self.output), len(committer.entries)
        before = dict(
            zip(map(files.printable, names), accumulate(names.values(), initial=0), strict=False)
        )
        context = making.GraphContext(
            self.config.model_dump(), closing.Staging(output, lease.run), files.root(names)
        )
        held: str | None = None
        began = time.perf_counter()
        source = self._made(names, context, committer.entries[-1] if done else None)
        try:
            for pane in source:
                entry, read = _commit(pane, context, committer)
                now = time.perf_counter()
                committer.note_timings(entry, now - began, read.timings)
                stored = before[entry.source[-1].file] + read.stored
                self.on_pane(PaneProgress(entry, now - began, stored, sum(names.values())))
                began = now
                if held := committer.held():
                    break
        finally:
            source.close()
        committer.finish(lambda: context.worker().checks)
        commit.clear_staged(output, lease.run)
        return Outcome(committer.entries, len(committer.entries) - done, held)

    def _made(
        self, names: dict[str, int], context: making.GraphContext, after: PaneEntry | None
    ) -> Generator[int, None, None]:
        """Make the panes after an entry; gives the number of each, in order, when it is there."""
        if after is not None and after.source:  # a file may change and keep its size and time
            last = after.source[-1].file
            cutting.check_unchanged(
                [each for each in names if files.printable(each) == last], [after]
            )
        if self.options:
            # Imported here: Beam takes a second, which a run on this machine need not wait for
            from evenflow.pipelines.files import graph

            return graph.made(names, context, after, list(self.options), self.on_note, self.debug)
        if self.workers == 1:
            context.worker().on_block = self.on_block
        return workers.made(cutting.panes(names, self.config, after), context, self.workers)


def _commit(
    pane: int, context: making.GraphContext, committer: commit.Committer
) -> tuple[PaneEntry, closing.Source]:
    """Commit a pane that was made; returns its entry and what was read for it."""
    output = context.staging.output
    folder = context.staging.find(pane)
    assert folder is not None
    if committer.index is None:
        ready = closing.read_ready(output, folder)
    else:
        worker = context.worker()
        with output.folder(folder, fetch=True) as local:
            staged, source = closing.read_staged(local)
            ready = closing.close_pane(
                pane, staged, local, worker.annotator, worker.checks, committer.index
            )
            ready.source = source
    source = ready.source
    return committer.commit(folder, ready, source.ranges, source.timings), source


def _is_below(name: str, output: Storage) -> bool:
    """Whether a file is in the output."""
    if output.local is not None:
        return "://" not in name and output.local.resolve() in Path(name).resolve().parents
    return name.startswith(f"{output.url}/")


def _version(found: Stored) -> str | int | None:
    """What changes with a file: its etag in a store, else the time of its last change."""
    return found.identity or found.modified


def settings(config: Config, lists: list[WordList], source: dict[str, Any]) -> dict[str, Any]:
    """Collect the settings that a ledger keeps of a run.

    Args:
        config: The configuration.
        lists: The attributes' word lists.
        source: What is read: input (bytes by path) or stream.

    Returns:
        configuration, wordlists and entities (digests), and what source has.
    """
    kept = config.model_dump()
    # A run may go on with other values of these, which do not change what is measured or committed
    del kept["gate"]["policy"], kept["gate"]["notify"], kept["measure"]["epsilon"]
    for name in ("kafka", "metrics", "alerts", "finetune", "triggers"):
        del kept[name]
    # These say where and how a model is asked, and not what is asked
    for name in ("url", "key", "cache", "cache_mib", "deadline", "concurrency"):
        del kept["llm"][name]
    lists_read = {"wordlists": epochs.list_digests(lists), **lookup.digests(config.coverage)}
    return {"configuration": kept, **lists_read, **source}


@dataclass
class RunStart:
    """A run at its start.

    Attributes:
        entries: The ledger so far.
        finished: Whether the whole input was read.
        epoch: The epoch in which the run goes on.
        note: What a user should know about the epoch; None: nothing.
    """

    entries: History
    finished: bool
    epoch: Epoch
    note: str | None = None


def begin(
    output: Place, lease: Lease, record: dict[str, Any], config: Config, lists: list[WordList]
) -> RunStart:
    """Check that a run may go on with its output, and write its settings and a new epoch.

    Args:
        output: The output.
        lease: Its lease, which this process holds.
        record: What `settings` returned.
        config: The configuration.
        lists: The attributes' word lists.

    Returns:
        The start of the run.

    Raises:
        RunError: The output was begun with other settings.
        LedgerError: The ledger is damaged.
        OSError: A file cannot be read or written.
    """
    entries = History(output, config, repair=True)
    commit.recover(output, entries, lease.run)
    now = epochs.program(config, lists)
    known = ledger.read_meta(output)
    if known is None:
        first = Epoch(program=now)
        write_meta(output, record, config, finished=False, epochs=[first.model_dump()])
        return RunStart(entries, False, first)
    epoch = epochs.continued(output, known, record, now, lists, entries.totals)
    before = known.get("epochs") or [Epoch().model_dump()]
    if known["finished"] or epoch.number == before[-1]["number"]:
        return RunStart(entries, bool(known["finished"]), epoch)
    write_meta(output, record, config, finished=False, epochs=[*before, epoch.model_dump()])
    note = f"epoch {epoch.number} begins with pane {epoch.pane}: {'; '.join(epoch.changes)}"
    return RunStart(entries, False, epoch, note)


def write_meta(
    output: Place, record: dict[str, Any], config: Config, finished: bool, **more: Any
) -> None:
    """Write ledger/meta.json.

    Args:
        output: The output.
        record: What `settings` returned.
        config: The configuration.
        finished: Whether the whole input was read.
        **more: epochs, and modified (when each file was changed, in nanoseconds since 1970). What
            is not given stays as it was.
    """
    known = ledger.read_meta(output) or {}
    kept = {key: known[key] for key in ("epochs", "modified") if key in known}
    meta = {
        "version": 1,
        "settings": record,
        "configuration": config.model_dump(context=MASKED),
        "finished": finished,
    }
    ledger.write_meta(output, {**meta, **kept, **more})
