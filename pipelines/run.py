"""The driver of `evenflow run`: cuts panes, lets the graph read them, judges and commits them in order.

Commit of a pane, each step durable before the next: (a) shards and dead letters closed in staged/, by the graph; (b) checks
of Great Expectations; (c) verdict from the rolling score; (d) files moved to accepted/ or quarantine/, and dead-letter/; (e)
the ledger entry, by an atomic rename. A kill between any two steps replays the pane under the same names.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from evenflow.gates import hold, ledger
from evenflow.gates.expectations import PaneChecks
from evenflow.gates.judge import Judge, overall
from evenflow.gates.lock import OutputLock
from evenflow.pipelines import gate, workers
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures, mentions
from evenflow.schemas.ledger import PaneEntry, SourceRange
from evenflow.transforms import files
from evenflow.wordlists import loader

FOLDERS = ("accepted", "quarantine", "dead-letter", "staged", "ledger", "checks", "gate")


class RunError(RuntimeError):
    """The run cannot go on; the message says what to do."""


@dataclass
class Progress:
    """What the terminal shows after each pane. input_bytes, total_bytes: of the files as stored, done and in all."""

    entry: PaneEntry
    seconds: float
    input_bytes: int
    total_bytes: int


@dataclass
class Outcome:
    """How a run ended: its ledger, how many panes were new, and why the gate is held, if it is."""

    entries: list[PaneEntry]
    new: int
    held: str | None = None

    @property
    def halted(self) -> bool:
        """Whether the run stopped before the end of its input."""
        return self.held is not None


@dataclass
class Run:
    """One run of the gate on files. on_pane is called after each commit, on_block (with one worker) after each block read."""

    inputs: list[str]
    output: Path
    config: Config
    workers: int = 1
    on_pane: Callable[[Progress], None] = lambda progress: None
    on_block: Callable[[Figures], None] = lambda figures: None

    def go(self) -> Outcome:
        """Run to the end, a halt or an error.

        Raises RunError, InputError, OSError, LedgerError, LockedError, WorkerError, WordListError, SuiteError.
        """
        inside = self.output.resolve()
        names = {name: size for name, size in files.match(self.inputs).items() if inside not in Path(name).resolve().parents}
        if not names:
            raise files.InputError(f"{', '.join(self.inputs)}: nothing there but this run's own output")
        self._lists = [loader.load(each.wordlist or name) for name, each in self.config.attributes.items()]
        for folder in FOLDERS:
            (self.output / folder).mkdir(parents=True, exist_ok=True)
        with OutputLock(self.output):
            return self._locked(names)

    def _locked(self, names: dict[str, int]) -> Outcome:
        record = self._record(names)
        entries = ledger.read_entries(self.output)
        known = ledger.read_meta(self.output)
        if known is not None:
            if changed := ledger.changed_settings(known["settings"], record):
                lines = "\n  ".join(changed)
                raise RunError(
                    f"{self.output} was begun with other settings:\n  {lines}\ngo on with those, or give another --output"
                )
            if known["finished"]:
                return Outcome(entries, 0)
        else:
            self._note(record, finished=False)
        self._clear_leftovers(entries)
        if held := hold.held(self.output, entries, self.config.gate.policy):
            return Outcome(entries, 0, held)
        return self._read(names, record, entries)

    def _read(self, names: dict[str, int], record: dict[str, Any], entries: list[PaneEntry]) -> Outcome:
        checks = PaneChecks(self.output, Path(self.config.checks.suite) if self.config.checks.suite else None)
        judge = Judge(self.config, self._lists, entries)
        done, total = len(entries), sum(names.values())
        place = gate.Place(self.config.model_dump(), str(self.output / "staged"))
        if self.workers == 1:
            place.workshop().on_block = self.on_block
        panes = (pane for pane in gate.cut(names, self.config) if pane.number >= done)
        held: str | None = None
        began = time.perf_counter()
        source = workers.staged(panes, place, self.workers)
        try:
            for chunk, spent in source:
                for pane in chunk:
                    # The graph's time is that of the chunk: each pane's part goes by its bytes.
                    part = pane.size / max(sum(each.size for each in chunk), 1)
                    timings = {stage: seconds * part for stage, seconds in spent.items()}
                    entry = self._commit(pane, judge, checks, timings)
                    entries.append(entry)
                    now = time.perf_counter()
                    self._write_timings(entry, now - began, timings)
                    self.on_pane(Progress(entry, now - began, pane.stored, total))
                    began = now
                    if held := hold.held(self.output, entries, self.config.gate.policy):
                        break
                if held:
                    break
                began = time.perf_counter()
        finally:
            source.close()
        checks.docs()
        self._clear_staged()
        if not held:
            self._note(record, finished=True)
        return Outcome(entries, len(entries) - done, held)

    def _record(self, names: dict[str, int]) -> dict[str, Any]:
        """What must be the same for a run to be continued: configuration, word lists and input."""
        return {
            "configuration": self.config.model_dump(),
            "wordlists": {
                words.attribute: hashlib.sha256(repr((words.groups, sorted(words.labels.items()))).encode()).hexdigest()
                for words in self._lists
            },
            "input": dict(names),
        }

    def _note(self, record: dict[str, Any], finished: bool) -> None:
        meta = {"version": 1, "settings": record, "configuration": record["configuration"], "finished": finished}
        ledger.write_meta(self.output, meta)

    def _clear_staged(self) -> None:
        shutil.rmtree(self.output / "staged")
        (self.output / "staged").mkdir()

    def _clear_leftovers(self, entries: list[PaneEntry]) -> None:
        """Remove what a killed run left without a ledger entry: staged blocks, and files moved before their entry."""
        self._clear_staged()
        known = {shard.name for entry in entries for shard in (*entry.shards, *filter(None, [entry.dead_letters]))}
        for folder in ("accepted", "quarantine", "dead-letter"):
            for path in (self.output / folder).glob("part-*"):
                if path.name not in known:
                    path.unlink()

    def _commit(self, pane: gate.Pane, judge: Judge, checks: PaneChecks, timings: dict[str, float]) -> PaneEntry:
        folder = self.output / "staged" / f"{pane.number:08d}"
        ready = gate.read_ready(folder)  # (a)
        attributes = judge.judge(ready.figures)
        began = time.perf_counter()
        checked = checks.run(pane.number, self._frame(folder, ready), attributes)  # (b)
        timings["checks"] = time.perf_counter() - began
        verdict = overall(attributes, checked)  # (c)
        entry = PaneEntry(
            pane=pane.number,
            source=[SourceRange(file=each.file, first=each.first, last=each.last) for each in pane.segments],
            input_bytes=ready.figures.input_bytes,
            text_bytes=ready.figures.text_bytes,
            documents=ready.figures.documents,
            dead=sum(ready.figures.dead_reasons.values()),
            dead_reasons=ready.figures.dead_reasons,
            sentences=ready.figures.sentences,
            attributes=attributes,
            shards=ready.shards,
            dead_letters=ready.dead_letters,
            checks=checked,
            verdict=verdict,
            folder="quarantine" if verdict.state == "block" else "accepted",
        )
        began = time.perf_counter()
        self._move(folder, self.output / entry.folder, [shard.name for shard in ready.shards])  # (d)
        self._move(folder, self.output / "dead-letter", [ready.dead_letters.name] if ready.dead_letters else [])
        ledger.write_entry(self.output, entry)  # (e)
        shutil.rmtree(folder)
        judge.remember(entry)
        timings["commit"] = time.perf_counter() - began
        return entry

    def _frame(self, folder: Path, ready: gate.Ready) -> Any:
        """The pane's shards as the checks see them: ids, texts and mentions, read back from the files."""
        # Imported here: a run on a finished output needs neither.
        import pyarrow as pa
        import pyarrow.parquet as pq

        fields = self.config.fields
        own = [mentions(words.attribute, group) for words in self._lists for group in words.groups]
        columns = [fields.id, fields.text, *own]
        tables = [pq.read_table(folder / shard.name, columns=columns) for shard in ready.shards]
        if not tables:
            tables = [pa.table({name: pa.array([], pa.string() if name not in own else pa.int32()) for name in columns})]
        return pa.concat_tables(tables).rename_columns(["id", "text", *own]).to_pandas()

    def _move(self, source: Path, target: Path, names: list[str]) -> None:
        """Rename files into their folder, durably."""
        for name in names:
            (source / name).replace(target / name)
        descriptor = os.open(target, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _write_timings(self, entry: PaneEntry, seconds: float, timings: dict[str, float]) -> None:
        line = {
            "pane": entry.pane,
            "seconds": round(seconds, 4),
            "input_bytes": entry.input_bytes,
            "documents": entry.documents,
            "stages": {stage: round(value, 4) for stage, value in timings.items()},
        }
        with (self.output / "gate" / "timings.jsonl").open("ab") as file:
            file.write(orjson.dumps(line) + b"\n")
