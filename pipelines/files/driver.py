"""The driver of `evenflow run` on files: cuts panes, lets the graph read them, and commits them in
order.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenflow.gates import hold
from evenflow.gates.ledger import files as ledger
from evenflow.gates.ledger.history import History
from evenflow.gates.lock import OutputLock
from evenflow.pipelines.files import cutting, graph, workers
from evenflow.pipelines.panes import closing, commit, epochs
from evenflow.pipelines.panes.epochs import RunError as RunError  # what a run raises
from evenflow.pipelines.panes.progress import PaneProgress
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.schemas.epoch import Epoch
from evenflow.schemas.ledger import PaneEntry, SourceRange
from evenflow.transforms.io import files
from evenflow.wordlists import loader
from evenflow.wordlists.loader import WordList


@dataclass
class Outcome:
    """How a run ended: its ledger, how many panes were new, and why the gate is held, if it is."""

    entries: History
    new: int
    held: str | None = None

    @property
    def halted(self) -> bool:
        """Whether the run stopped before the end of its input."""
        return self.held is not None


@dataclass
class Run:
    """One run of the gate on files. on_pane is called after each commit, on_block (with one worker)
    after each block read, on_note with what a user should know."""

    inputs: list[str]
    output: Path
    config: Config
    workers: int = 1
    on_pane: Callable[[PaneProgress], None] = lambda progress: None
    on_block: Callable[[Figures], None] = lambda figures: None
    on_note: Callable[[str], None] = lambda text: None

    def go(self) -> Outcome:
        """Run to the end, a halt or an error.

        Raises RunError, ChangedError, InputError, OSError, LedgerError, LockedError, WorkerError,
        WordListError, SuiteError.
        """
        inside = self.output.resolve()
        found = {
            name: each
            for name, each in files.find(self.inputs).items()
            if inside not in Path(name).resolve().parents
        }
        names = {name: each.bytes for name, each in found.items()}
        if not names:
            raise files.InputError(
                f"{', '.join(self.inputs)}: nothing there but this run's own output"
            )
        lists = [
            loader.load(each.wordlist or name) for name, each in self.config.attributes.items()
        ]
        commit.make_folders(self.output)
        with OutputLock(self.output):
            record = settings(
                self.config,
                lists,
                {"input": {files.shown(name): size for name, size in names.items()}},
            )
            begun = begin(self.output, record, self.config, lists)
            entries = begun.entries
            self._see_unchanged(found, record, entries, begun.finished)
            if begun.finished:
                return Outcome(entries, 0)
            if begun.note:
                self.on_note(begun.note)
            commit.clear_leftovers(self.output, len(entries))
            if held := hold.held(self.output, entries.totals, self.config.gate.policy):
                return Outcome(entries, 0, held)
            committer = commit.Committer(self.output, self.config, lists, entries, begun.epoch)
            outcome = self._read(names, committer)
            if not outcome.held:
                after = files.find(self.inputs)
                gone = files.Stored(0, None)
                self._see_unchanged(
                    {name: after.get(name, gone) for name in names}, record, committer.entries, True
                )
            return outcome

    def _see_unchanged(
        self,
        found: dict[str, files.Stored],
        record: dict[str, Any],
        entries: Sequence[PaneEntry],
        finished: bool,
    ) -> None:
        """See that what panes have read is still so: files that another size or time makes doubtful
        are read again.

        Notes what was seen. Raises ChangedError, OSError.
        """
        meta = ledger.read_meta(self.output) or {}
        known = meta.get("modified") or {}
        now = {files.shown(name): each.modified for name, each in found.items()}
        sizes = meta.get("settings", {}).get("input") or {}
        doubtful = {
            name
            for name, each in found.items()
            if known.get(files.shown(name), each.modified) != each.modified
        }
        doubtful |= {
            name
            for name, each in found.items()
            if sizes.get(files.shown(name), each.bytes) != each.bytes
        }
        cutting.see_unchanged(doubtful, entries)
        if now != known or finished != meta.get("finished"):
            note(self.output, record, self.config, finished, modified=now)

    def _read(self, names: dict[str, int], committer: commit.Committer) -> Outcome:
        done, total = len(committer.entries), sum(names.values())
        place = graph.GraphPlace(
            self.config.model_dump(), str(self.output / "staged"), files.root(names)
        )
        if self.workers == 1:
            place.workshop().on_block = self.on_block
        panes = cutting.cut(names, self.config, committer.entries[-1] if done else None)
        held: str | None = None
        began = time.perf_counter()
        source = workers.staged(panes, place, self.workers)
        try:
            for chunk, spent in source:
                for pane in chunk:
                    # The graph's time is that of the chunk: each pane's part goes by its bytes.
                    part = pane.size / max(sum(each.size for each in chunk), 1)
                    timings = {stage: seconds * part for stage, seconds in spent.items()}
                    folder = place.folder(pane.number)
                    if committer.index is not None:
                        closing.close_pane(
                            pane.number,
                            closing.read_staged(folder),
                            folder,
                            place.workshop().annotator,
                            committer.index,
                        )
                    ranges = [_range(folder, each) for each in pane.segments]
                    entry = committer.commit(folder, closing.read_ready(folder), ranges, timings)
                    now = time.perf_counter()
                    # Once a run, it is no pane's
                    spent_here = now - began - timings.pop(commit.START, 0.0)
                    committer.note_timings(entry, spent_here, timings)
                    self.on_pane(PaneProgress(entry, spent_here, pane.stored, total))
                    began = now
                    if held := committer.held():
                        break
                if held:
                    break
        finally:
            source.close()
        committer.finish()
        commit.clear_staged(self.output)
        return Outcome(committer.entries, len(committer.entries) - done, held)


def _range(folder: Path, each: cutting.Segment) -> SourceRange:
    """A segment that was read, for the ledger."""
    digest = graph.digest_file(folder, each).read_text()
    return SourceRange(
        file=files.shown(each.file),
        first=each.first,
        last=each.last,
        offset=each.offset,
        sha256=digest,
    )


def settings(config: Config, lists: list[WordList], source: dict[str, Any]) -> dict[str, Any]:
    """What a ledger notes of a run: configuration, word lists, prompts, encoder and source."""
    kept = config.model_dump()
    # These change nothing that was measured or committed: a run may go on with others.
    del kept["gate"]["policy"], kept["measure"]["epsilon"], kept["kafka"], kept["metrics"]
    # Where and how, not what is asked
    for name in ("url", "key", "cache", "cache_mib", "deadline", "concurrency"):
        del kept["llm"][name]
    return {"configuration": kept, "wordlists": epochs.list_digests(lists), **source}


@dataclass
class Begun:
    """A run at its start: the ledger so far, whether all was read, and the epoch. note: what a user
    should know of that.
    """

    entries: History
    finished: bool
    epoch: Epoch
    note: str | None = None


def begin(output: Path, record: dict[str, Any], config: Config, lists: list[WordList]) -> Begun:
    """See that a run may go on, and note its settings, and its epoch where that is a new one.

    Raises RunError where it was begun with other settings, LedgerError, OSError.
    """
    entries = History(output, config, mend=True)
    now = epochs.program(config, lists)
    known = ledger.read_meta(output)
    if known is None:
        note(output, record, config, finished=False, epochs=[Epoch(program=now).model_dump()])
        return Begun(entries, False, Epoch(program=now))
    epoch = epochs.gone_on(output, known, record, now, lists, entries.totals)
    before = known.get("epochs") or [Epoch().model_dump()]
    if known["finished"] or epoch.number == before[-1]["number"]:
        return Begun(entries, bool(known["finished"]), epoch)
    note(output, record, config, finished=False, epochs=[*before, epoch.model_dump()])
    said = f"epoch {epoch.number} begins with pane {epoch.pane}: {'; '.join(epoch.changes)}"
    return Begun(entries, False, epoch, said)


def note(output: Path, record: dict[str, Any], config: Config, finished: bool, **more: Any) -> None:
    """Write ledger/meta.json. more: epochs, and modified: when each file was changed, nanoseconds
    since 1970; what is not given stays as it was."""
    known = ledger.read_meta(output) or {}
    kept = {key: known[key] for key in ("epochs", "modified") if key in known}
    meta = {
        "version": 1,
        "settings": record,
        "configuration": config.model_dump(),
        "finished": finished,
    }
    ledger.write_meta(output, {**meta, **kept, **more})
