"""What every run does around its panes: lease, ledger, epoch, and the commits in their order."""

from __future__ import annotations

import time
from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa

from evenflow.gates.lease import Lease
from evenflow.gates.ledger import files as ledger
from evenflow.gates.ledger import output_files
from evenflow.gates.ledger.history import History
from evenflow.pipelines.engine.make import GraphContext, Reads
from evenflow.pipelines.engine.panes import closing, columns, commit, epochs
from evenflow.pipelines.terminal.outcome import Observer, PaneProgress
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import FORMAT, Epoch, PaneEntry, SourceRange
from evenflow.schemas.secrets import MASKED
from evenflow.transforms.measures import registry
from evenflow.transforms.staging.block import StagedBlock
from evenflow.transforms.storage.storage import Place, at
from evenflow.wordlists.loader import WordList

HELD_SECONDS = 0.5  # between two looks whether a gate that is held was released


@contextmanager
def leased(output: Place, standby: bool, observer: Observer) -> Iterator[Lease]:
    """Hold the lease of an output within a with-block."""
    commit.make_folders(output)
    lease = Lease(output, standby, observer.note)
    if observer.health is not None:
        observer.health.lease = lease
    with lease:
        yield lease


class Session:
    """A run that holds its lease.

    Args:
        record: The settings that the ledger keeps (`settings`).
        lists: The word lists.

    Attributes:
        finished: Whether an earlier run has read all of the input that the record names.
        done: How many panes the ledger had at the start.
    """

    def __init__(
        self,
        output: Place,
        config: Config,
        lists: list[WordList],
        lease: Lease,
        record: dict[str, Any],
        observer: Observer,
    ):
        self.output, self.config, self.record, self._observer = at(output), config, record, observer
        self.lease = lease
        self.entries = History(output, config, repair=True)
        commit.recover(output, self.entries, lease.run)
        self.finished, self.notes = False, self._differences()
        self.done = len(self.entries)
        self.committer = commit.Committer(
            output, config, lists, self.entries, lease, self._begin(lists), observer.note
        )

    def context(self, reads: Reads, threads: int) -> GraphContext:
        """Make what the workers of this run need."""
        staging = closing.Staging(self.output, self.lease.run)
        return GraphContext(self.config.model_dump(), staging, reads, threads)

    def write_meta(self, finished: bool, **more: Any) -> None:
        """Write ledger/meta.json."""
        known = ledger.read_meta(self.output) or {}
        lasting = ("epochs", "earlier", "stored", "root", "topic", "left_out", columns.KEY)
        kept = {key: known[key] for key in lasting if key in known}
        meta = {
            "version": FORMAT,
            "settings": self.record,
            "configuration": self.config.model_dump(context=MASKED),
            "finished": finished,
        }
        ledger.write_meta(self.output, {**meta, **kept, **more})

    def _differences(self) -> list[str]:
        """Say where the shards are not those of the ledger."""
        notes, every = list[str](), "evenflow gate verify --files"
        strays, gone, more = output_files.strays(self.output, self.entries)
        for what, names in (
            ("not in the ledger, and so no part of the output", strays),
            ("the ledger names it, and it is gone", gone),
        ):
            if names:
                many = f"{len(names):,} such files; {every} names all"
                notes.append(f"{self.output.address(names[0])}: {what} ({many})")
        if more:
            notes.append(
                f"{self.output.address('accepted')} and quarantine have {abs(more):,} files"
                f" {'more' if more > 0 else 'fewer'} than the ledger has of older panes; {every}"
                " names them"
            )
        return notes

    def _begin(self, lists: list[WordList]) -> Epoch:
        """Check that the run may go on with its output; write its settings and a new epoch."""
        record = self.record
        now = epochs.program(self.config, lists, record.get("input", ()))
        known = ledger.read_meta(self.output)
        if known is None:
            first = Epoch(program=now)
            self.write_meta(False, epochs=[first.model_dump()])
            return first
        epoch = epochs.continued(self.output, known, record, now, lists, self.entries.totals)
        before = known.get("epochs") or [Epoch().model_dump()]
        noted = known["settings"].get("input")
        self.finished = bool(known["finished"]) and noted == record.get("input")
        if self.finished or epoch.number == before[-1]["number"]:
            return epoch
        # What was found is noted later
        kept = record if noted is None else {**record, "input": noted}
        every = [*before, epoch.model_dump()]
        self.write_meta(bool(known["finished"]), settings=kept, epochs=every)
        self.notes.append(
            f"epoch {epoch.number} begins with pane {epoch.pane}: {'; '.join(epoch.changes)}"
        )
        return epoch

    def commit_all(
        self,
        made: Generator[dict[int, str], None, None],
        context: GraphContext,
        again: Callable[[int], None],
        progress: Callable[[PaneEntry, closing.Source, float], PaneProgress],
        waits: Callable[[], bool] = lambda: False,
        before: Callable[[], None] = lambda: None,
        after: Callable[[PaneEntry], None] = lambda entry: None,
        is_due: Callable[[int, Sequence[SourceRange]], bool] = lambda pane, ranges: True,
    ) -> str | None:
        """Commit panes as they are made, until the gate is held.

        Args:
            made: Gives panes in order when they are there: the folder of each by its number.
            again: Makes a pane anew whose ranges or columns are not those that are due.
            waits: Called while the gate is held; whether to wait for its release.
            before: Called before each commit.
            after: Called with each pane after it.
            is_due: Whether a pane was made of the ranges that are due.

        Returns:
            Why the gate is held; None if it is not.
        """
        began = time.perf_counter()
        held: str | None = None
        try:
            for folders in made:
                while folders:
                    while (held := self.committer.held()) and waits():
                        time.sleep(HELD_SECONDS)
                    if held:
                        break
                    before()
                    panes = self._ready(folders, context, again, is_due)
                    done = self.committer.commit(panes)
                    share = (time.perf_counter() - began) / len(done)
                    for entry in done:
                        began = time.perf_counter()
                        after(entry)
                        source = panes[folders.pop(entry.pane)].source
                        seconds = share + time.perf_counter() - began
                        self.committer.note_timings(entry, seconds, source.timings)
                        self._observer.pane(progress(entry, source, seconds))
                    began = time.perf_counter()
                if held:
                    break
        finally:
            made.close()
        self.committer.finish()
        commit.clear_staged(self.output, context.staging.run)
        return held or self.committer.held()

    def _ready(
        self,
        folders: dict[int, str],
        context: GraphContext,
        again: Callable[[int], None],
        is_due: Callable[[int, Sequence[SourceRange]], bool],
    ) -> dict[str, closing.Ready]:
        """The panes to commit next, by their folders; the first is made anew until it is due."""
        alone = self.output.local is not None or closing.driver_closes(self.config)
        due = list(folders.items())[: 1 if alone else None]
        found: dict[str, closing.Ready] = {}
        closed = self.output.at_once(lambda each: self._closed(*each, context), due)
        for (pane, folder), ready in zip(due, closed, strict=True):
            while not (
                is_due(pane, ready.source.ranges) and self._has_columns(pane, ready, context)
            ):
                if found:
                    return found  # those before it are committed first
                context.staging.remove(pane, folder)
                again(pane)
                folder = folders[pane] = context.staging.found(pane, 1)[pane]
                ready = self._closed(pane, folder, context)
            found[folder] = ready
        return found

    def _has_columns(self, pane: int, ready: closing.Ready, context: GraphContext) -> bool:
        """Note the columns of a pane of a topic.

        Returns False where a pane before has brought a column since this one was made.
        """
        source = ready.source
        if source.stream is None or source.columns is None:
            return True
        made = columns.unpacked(source.columns)
        own = context.worker().annotator.own
        due = columns.note_pane(self.output, pane, made, self.config, own)
        return pa.schema(due) == pa.schema(made)

    def _closed(self, pane: int, folder: str, context: GraphContext) -> closing.Ready:
        """A pane that is closed: by its worker, or else here."""
        if not closing.driver_closes(self.config):
            return closing.read_ready(self.output, folder)
        worker, committer = context.worker(), self.committer
        annotator = worker.annotator
        with self.output.folder(folder) as local:
            staged, source, mended = closing.read_staged(self.output, folder, local)
            if mended is None:
                mended = closing.mend_pane(pane, staged, local, annotator, committer.index)
            blocks = [StagedBlock(local, each.stem) for each in staged]
            own = context.reads.columns(pane, worker, self.output, blocks)
            ready = committer.close(staged, local, annotator, worker.checks, mended, own)
        source.columns = columns.packed(own)
        ready.source = source
        return ready


def settings(config: Config, lists: list[WordList], source: dict[str, Any]) -> dict[str, Any]:
    """Collect the settings that a ledger keeps of a run.

    `source`: What is read: input (bytes by path) or stream.
    """
    kept = config.model_dump()
    # A run may go on with other values of these, which do not change what is measured or committed
    del kept["gate"]["on_block"], kept["measure"]["epsilon"]
    kept.pop("strict_input", None)
    for name in ("kafka", "metrics", "alerts", "finetune", "triggers"):
        del kept[name]
    # These say where and how a model is asked, and not what is asked
    for name in ("url", "key", "cache", "deadline", "concurrency"):
        del kept["llm"][name]
    lists_read = {"wordlists": epochs.list_digests(lists), **registry.digests(config)}
    return {"configuration": kept, **lists_read, **source}
