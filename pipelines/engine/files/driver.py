"""The driver of `evenflow run` on files: cuts panes, runs the graph, commits panes in order."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from concurrent.futures import Executor
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from evenflow.gates.ledger import files as ledger
from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine import loop
from evenflow.pipelines.engine.files import cutting
from evenflow.pipelines.engine.files.cutting import FileReads, Pane
from evenflow.pipelines.engine.files.intake import Intake, Rest
from evenflow.pipelines.engine.make import GraphContext
from evenflow.pipelines.engine.panes import columns
from evenflow.pipelines.engine.panes.closing import Source
from evenflow.pipelines.engine.panes.epochs import RunError as RunError  # raised by a run
from evenflow.pipelines.engine.session import Session, leased, settings
from evenflow.pipelines.terminal.outcome import Observer, Outcome, PaneProgress
from evenflow.schemas.config import Config
from evenflow.schemas.documents import own_columns
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.annotation.annotate import attributes
from evenflow.transforms.io import files, first_records
from evenflow.transforms.measures import registry
from evenflow.transforms.storage.storage import Place, at


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
        executor: Its worker processes (`loop.pool`); None: they are made for the run.
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
    executor: Executor | None = None

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
        if (health := self.observer.health) is not None:  # a file that cannot be read ends the run
            health.silence = lambda: 0.0
        with ExitStack() as beside:
            # Workers begin before the lease has a thread
            executor = self.executor or beside.enter_context(loop.pool(self.workers))
            lease = beside.enter_context(leased(self.output, self.standby, self.observer))
            bytes_found = {files.printable(name): each.bytes for name, each in found.items()}
            record = settings(self.config, lists, {"input": bytes_found})
            session = Session(self.output, self.config, lists, lease, record, self.observer)
            entries, known = session.entries, ledger.read_meta(self.output) or {}
            intake.compare(found, entries, known)
            rest = intake.rest(found, entries, known)
            root = intake.root(found, known)

            def write(rest: Rest, finished: bool = False) -> None:
                self._write(session, finished, intake, rest, root)

            write(rest, session.finished)
            for text in session.notes:
                note(text)
            if session.finished and self.follow is None:
                return Outcome(entries, 0)
            if held := session.committer.held():
                return Outcome(entries, 0, held)
            context = session.context(FileReads(root), self.workers)
            panes = self._panes(rest, intake, entries, write)
            made = self._made(rest, panes, context, entries, executor)

            def progress(entry: PaneEntry, read: Source, seconds: float) -> PaneProgress:
                how_far = intake.now.done(entry.source[-1].file, read.stored)
                return PaneProgress(entry, seconds, *how_far)

            held = session.commit_all(made, context, lambda pane: None, progress)
            if not held:
                intake.compare_again(found, entries, ledger.read_meta(self.output) or {})
                write(rest, True)
            return Outcome(entries, len(entries) - session.done, held)

    def _write(
        self, session: Session, finished: bool, intake: Intake, rest: Rest, root: str
    ) -> None:
        """Write what has been found to meta.json, unless it says so already."""
        known = ledger.read_meta(self.output) or {}
        new: dict[str, Any] = {"earlier": rest.earlier, "stored": intake.facts(), "root": root}
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
            session.record = {**session.record, "input": rest.input}
            session.write_meta(**new)

    def _made(
        self,
        rest: Rest,
        panes: Iterator[Pane | float],
        context: GraphContext,
        entries: History,
        executor: Executor,
    ) -> Generator[dict[int, str], None, None]:
        """Make panes; gives their folders by number, in order, when they are there."""
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
        return loop.made(panes, context, executor, self.workers)

    def _panes(
        self, rest: Rest, intake: Intake, entries: History, write: Callable[[Rest], None]
    ) -> Iterator[Pane | float]:
        """Cut the rest; of an input that is followed, what comes later too.

        All that was cut before an ALL is committed when the next pane is asked for.
        """
        rest.whole = self.follow is not None
        yield from cutting.panes(rest.names, self.config, rest.begin, rest.whole)
        if self.follow is None:
            return
        yield loop.ALL
        for more in intake.followed(entries, lambda: ledger.read_meta(self.output) or {}):
            cut = cutting.panes(more.names, self.config, more.begin, more.whole)
            for number, pane in enumerate(cut):
                if not number:  # a round is noted before its first pane is made
                    write(more)
                yield pane
            yield loop.ALL
