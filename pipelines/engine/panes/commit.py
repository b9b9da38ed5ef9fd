"""Commits panes that the graph has made ready, from files or from a topic.

In an object store, panes that wait are committed together: a step is done for all of them at once.
In a local directory they are committed one by one. Each step is durable before the next. After a
kill the next run goes on as said:

(a) The worker that made the pane has closed and checked its files in staged/RUN/. After a kill the
    pane is made again: the next run has another folder.
(b) The verdict is taken from the rolling score, with the panes before. Nothing is written.
(c) In an object store, the panes are claimed: ledger/claims/PANE-NUMBER.json, with the number of
    the first, holds their entries, the folders of (a) and the run. Only one run can create it. Then
    the run makes sure that it still has the lease (see gates.lease). After a kill, or when another
    run takes over, the next run does (d) to (f) from the claim. In a local directory the kernel's
    lock makes this step unnecessary.
(d) The files get their places in accepted/ or quarantine/, dead-letter/ and sentences/: renamed in
    a local directory, copied in an object store. After a kill in a local directory they are deleted
    and the pane is made again; in a store they are copied again from the claim.
(e) The ledger entries are created, that of the first pane last. From then on the panes are
    committed, all of them: the ledger ends before the first entry that is missing. Who reads the
    output follows the ledger: a file that no entry names does not count.
(f) Triggers are asked, and what fires is noted in triggers/. After a kill the next run asks again.
(g) What the panes left in staged/, and their claim, are deleted. After a kill the next run deletes
    them.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import count, takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson
import pyarrow as pa

from evenflow.gates import hold
from evenflow.gates.expectations import results
from evenflow.gates.expectations.checks import PaneChecks
from evenflow.gates.judge import PaneJudge
from evenflow.gates.lease import Lease
from evenflow.gates.ledger import claims, segments
from evenflow.gates.ledger.files import TakenError, claim_name, entry_bytes
from evenflow.gates.ledger.history import History
from evenflow.gates.verdict import llm_verdict, reading_verdict
from evenflow.pipelines.engine.panes.closing import Ready, Staged, close_pane
from evenflow.pipelines.terminal.endings import undisturbed
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures, RepairedPane
from evenflow.schemas.ledger import Epoch, Measured, PaneEntry, Verdict
from evenflow.transforms.annotation.annotate import Annotator
from evenflow.transforms.measures.shift.measure import ALL, ShiftMeasure
from evenflow.transforms.staging.block import StagedBlock
from evenflow.transforms.staging.shards import shard_name
from evenflow.transforms.storage.directory import Directory
from evenflow.transforms.storage.storage import Place, Storage, at
from evenflow.wordlists.loader import WordList

if TYPE_CHECKING:
    from evenflow.gates.ledger.id_index import IdIndex

BESIDE = 64  # requests of earlier commits that may wait, in an object store
OWN = {"source", "attributes", "llm", "measures"}  # of an entry: they are judged, or made otherwise
TIMINGS = 64  # panes whose timings are one file of an object store
FOLDERS = (
    *("accepted", "quarantine", "dead-letter", "sentences", "set-aside"),
    *("staged", "ledger", "checks", "gate"),
)


class Committer:
    """Judges and commits panes in order."""

    def __init__(
        self,
        output: Place,
        config: Config,
        lists: Sequence[WordList],
        entries: History,
        lease: Lease,
        epoch: Epoch | None = None,
        note: Callable[[str], None] = lambda text: None,
    ):
        self.entries = entries
        self._note = note
        self._replaced: set[str] = set()  # fields that were told of
        self._mended: set[str] = set()  # the same
        self._output = at(output)
        self._lease = lease
        self._config = config
        self._lists = tuple(lists)
        self._epoch = epoch or Epoch()
        self._decide: Callable[[PaneEntry], None] = lambda entry: None
        if config.triggers:
            from evenflow.gates.triggers import Decider

            self._decide = Decider(self._output, config.triggers, entries).decide
        self._timings: list[bytes] = []
        self._pool = ThreadPoolExecutor(4)  # its threads start with the first use
        self._waiting: deque[Future[None]] = deque()
        self.index: IdIndex | None = None
        if config.duplicates.scope == "run":
            from evenflow.gates.ledger.id_index import IdIndex

            self.index = IdIndex(output, config.fields.id, entries)

    def close(
        self,
        blocks: list[Staged],
        folder: Path,
        annotator: Annotator,
        checks: PaneChecks,
        mended: RepairedPane,
        columns: Sequence[pa.Field] | None,
    ) -> Ready:
        """Close the next pane, without the documents that gate.scope sets aside."""
        removed = None
        if self._config.gate.scope == "documents":
            from evenflow.pipelines.engine.panes import removing

            staged = [StagedBlock(folder, each.stem) for each in blocks]
            judge = PaneJudge(self._config, self._lists, self.entries.totals)
            mended, removed = removing.remove(staged, annotator, mended, judge)
        pane, totals = len(self.entries), self.entries.totals.attributes
        accepted = {name: each.accepted.counts for name, each in totals.items()}
        ready = close_pane(pane, blocks, folder, annotator, checks, mended, columns, accepted)
        ready.removed = removed
        return ready

    def commit(self, panes: Mapping[str, Ready]) -> list[PaneEntry]:
        """Judge and commit the next panes.

        Args:
            panes: The panes, in order, by the folder of each.

        Returns:
            Entries of those that are committed: the first ones, up to one that holds the gate or
            completes a segment of the ledger.
        """
        made: dict[str, PaneEntry] = {}
        # A stop waits, so that accepted/ never has a file that the ledger does not name
        with undisturbed():
            for folder, ready in panes.items():
                made[folder] = entry = self._judged(folder, ready)  # (b)
                self.entries.append(entry)
                blocked = entry.folder == "quarantine" and self._config.gate.on_block == "halt"
                if blocked or len(self.entries) % segments.EVERY == 0:
                    break
            began, entries = time.perf_counter(), list(made.values())
            data = [entry_bytes(entry) for entry in entries]
            if self._output.local is None:
                claimed = zip(made, data, strict=True)
                claims.make(self._output, self._lease.run, claimed, entries[0].pane)  # (c)
                self._lease.check()
            try:
                self._output.place(_moves(made))  # (d)
                self.entries.write(list(zip(entries, data, strict=True)))  # (e)
            except (FileNotFoundError, TakenError):
                self._lease.check()  # a run that took over has finished this commit
                raise
        for folder, entry in made.items():
            self._decide(entry)  # (f)
            self._later(results.keep, self._output, entry.pane, panes[folder].results)
            self._tell(entry)
            if self.index is not None:
                self.index.add(entry)
        self._later(_clean, self._output, entries[0].pane, list(made))  # (g)
        seconds = (time.perf_counter() - began) / len(made)
        for folder in made:
            panes[folder].source.timings["commit"] = seconds
        return entries

    def _tell(self, entry: PaneEntry) -> None:
        """Say once what was done to the input's columns and bytes."""
        if fresh := sorted(entry.replaced.keys() - self._replaced):
            self._replaced.update(fresh)
            self._note(
                f"the input has {', '.join(fresh)}: columns of this name are computed here; what"
                f" the input has is kept as {', '.join(f'input_{name}' for name in fresh)}"
            )
        if fresh := sorted(entry.mended.keys() - self._mended):
            self._mended.update(fresh)
            self._note(
                f"pane {entry.pane}: in {', '.join(fresh)}, bytes that are no UTF-8 were replaced,"
                " or a value that columns cannot hold (NaN) became null; the ledger counts them"
                " (mended)"
            )

    def _without_shifted(self, entry: PaneEntry, ready: Ready, folder: str) -> Ready | None:
        """The pane without the sources that have shifted; None where it stays whole."""
        shift: Any = entry.measures.get(ShiftMeasure.name)
        if shift is None or not ready.strata or entry.verdict.state != "block":
            return None
        gone = shift.blocked()
        if not gone or ALL in gone:
            return None
        from evenflow.pipelines.engine.panes import sources  # rare

        annotator = Annotator(self._config)
        rest = sources.split(self._output, folder, entry.pane, ready, shift, annotator)
        if rest is not None:
            shift.set_aside(gone)
        return rest

    def _judged(self, folder: str, ready: Ready) -> PaneEntry:
        """The entry of the next pane, with its verdict, less the sources that have shifted."""
        entry = self._entry(ready)
        left = self._without_shifted(entry, ready, folder)
        return entry if left is None else self._entry(left, entry.measures[ShiftMeasure.name])

    def _entry(self, ready: Ready, shifted: Measured | None = None) -> PaneEntry:
        """The entry of the next pane, with its verdict; `shifted` is what was set aside."""
        judge = PaneJudge(self._config, self._lists, self.entries.totals)
        figures = ready.figures
        reading = self._reading(ready)
        # What was counted and written has the same names in the ledger
        same = {**vars(figures), **vars(ready)}
        entry = PaneEntry(
            **{name: same[name] for name in same.keys() & PaneEntry.model_fields.keys() - OWN},
            pane=len(self.entries),
            source=ready.source.ranges,
            dead=sum(figures.dead_reasons.values()),
            attributes=judge.judge(figures, ready.repairs, ready.weights, ready.weighed),
            verdict=reading,
            folder=reading.folder,
            stream=ready.source.stream,
            llm=_cost(figures.llm),
            reading=reading,
            asking=self._asking(figures),
            epoch=self._epoch.number,
            program=self._epoch.program,
            benchmark=self._benchmark(),
        )
        judge.conclude(entry, figures, shifted)
        return entry

    def _reading(self, ready: Ready) -> Verdict:
        """The verdict on the records that could not be read."""
        aside = ready.set_aside.rows if ready.set_aside else 0
        figures = ready.figures
        return reading_verdict(
            figures.dead_reasons, figures.documents + aside, self._config.gate.most_dead
        )

    def _benchmark(self) -> Verdict | None:
        """The verdict on the last model's benchmark; None if nothing is required of it."""
        if not self._config.gate.require:
            return None
        from evenflow.gates import requirement

        return requirement.judge(self._output, self._config.gate.require)

    def _asking(self, figures: Figures) -> Verdict | None:
        """The verdict on the questions that the language model did not answer."""
        llm = self._config.llm
        return llm_verdict(figures.llm, llm.most_fallbacks, llm.fallbacks) if figures.llm else None

    def _later(self, do: Callable[..., None], *arguments: Any) -> None:
        """Do what no next step waits for: at once, or in an object store beside the next commits.

        Raises what an earlier one raised.
        """
        if self._output.local is not None:
            do(*arguments)
            return
        while self._waiting and (self._waiting[0].done() or len(self._waiting) >= BESIDE):
            self._waiting.popleft().result()
        self._waiting.append(self._pool.submit(do, *arguments))

    def held(self) -> str | None:
        """Return why the gate is held now; None if it is not."""
        self.entries.look()
        return hold.held_reason(self._output, self.entries.totals, self._config)

    def finish(self) -> None:
        """Wait for what is under way, and write the last timings."""
        while self._waiting:
            self._waiting.popleft().result()
        self._write_timings()

    def note_timings(self, entry: PaneEntry, seconds: float, timings: dict[str, float]) -> None:
        """Append a line to gate/timings.jsonl, or in an object store to files in gate/timings/.

        The ledger has no clock times, so that it is the same in every run.
        """
        line = {
            "pane": entry.pane,
            "seconds": round(seconds, 4),
            "input_bytes": entry.input_bytes,
            "documents": entry.documents,
            "stages": {stage: round(value, 4) for stage, value in timings.items()},
        }
        self._timings.append(orjson.dumps(line) + b"\n")
        if self._output.local is not None or len(self._timings) == TIMINGS:
            self._write_timings()

    def _write_timings(self) -> None:
        """Write the noted timings."""
        lines, self._timings = b"".join(self._timings), []
        if self._output.local is not None:
            with Directory(self._output.local).inside("gate/timings.jsonl").open("ab") as file:
                file.write(lines)
        elif lines:
            self._output.write(f"gate/timings/{len(self.entries):012d}.jsonl", lines)


def _moves(panes: Mapping[str, PaneEntry]) -> list[tuple[str, str]]:
    """Where the files of panes go: from the folder of each in staged/ to their places."""
    return [
        (f"{folder}/{file.name}", f"{place}/{file.name}")
        for folder, entry in panes.items()
        for place, file in entry.files()
    ]


def _clean(output: Storage, first: int, folders: Iterable[str]) -> None:
    """Delete what panes that were committed together left (g)."""
    left = [f"{folder.partition('.')[0]}.json" for folder in folders]
    output.remove(left if output.local is not None else [*left, claim_name(first, 0)])
    list(output.at_once(output.remove_tree, folders))


def _cost(llm: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]] | None:
    """What asking a language model cost, with latency quantiles; None where none was asked."""
    if not llm:
        return None
    from evenflow.transforms.llm.client.stats import Stats  # an optional part of the installation

    return {name: Stats.from_json(each).as_json() for name, each in sorted(llm.items())}


def make_folders(output: Place) -> None:
    """Make the folders of a local output directory. Raises OSError."""
    storage = at(output)
    if storage.local is not None:
        for folder in FOLDERS:
            (storage.local / folder).mkdir(parents=True, exist_ok=True)


def clear_staged(output: Place, run: str) -> None:
    """Delete what this run and earlier ones left in staged/."""
    storage = at(output)
    if storage.local is not None:
        storage.remove_tree("staged")
        (storage.local / "staged").mkdir(exist_ok=True)
    else:  # a later run may be at work already, and its term sorts behind
        found = [each.name for each in storage.tree("staged")]
        storage.remove(name for name in found if name.split("/")[1] <= run)


def recover(output: Place, entries: History, run: str) -> None:
    """Finish or undo what a killed run left, once this run has the lease."""
    storage = at(output)
    if storage.local is not None:
        _clear_places(storage, len(entries))
        for path in (storage.local / "ledger").rglob(".*.part"):
            path.unlink()
    else:
        _finish_claim(storage, entries)
        while entries.follow():  # the run before has ended its commit, and deleted its claim
            _finish_claim(storage, entries)
        claims.clear(storage, len(entries))
    clear_staged(storage, run)


def _finish_claim(storage: Storage, entries: History) -> None:
    """Commit the next panes from the claim of an earlier run, if there is one."""
    panes = claims.find(storage, len(entries))
    try:
        storage.place(_moves(panes))
    except FileNotFoundError:
        # The run that made the claim has finished the commit meanwhile; or it had lost the lease
        # before, and the run after it has deleted the files: then the panes are made again
        return
    if panes:
        entries.commit(*panes.values())


def _clear_places(storage: Storage, panes: int) -> None:
    """Delete files that were moved before their entry was written.

    These are of the next pane, so their names are known: no folder of a million files is listed.
    """
    for folder in ("accepted", "quarantine"):
        shards = (f"{folder}/{shard_name(panes, number)}" for number in count())
        storage.remove(takewhile(storage.exists, shards))  # they were moved in this order
    storage.remove(
        f"{folder}/part-{panes:08d}{suffix}"
        for folder, suffix in (
            ("quarantine", "-aside.parquet"),
            ("set-aside", "-left.parquet"),
            ("dead-letter", ".jsonl"),
            ("sentences", ".parquet"),
        )
    )
