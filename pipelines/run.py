"""The driver of `evenflow run`: cuts panes, lets the graph read them, judges and commits them in order.

Commit of a pane, each step durable before the next: (a) shards and dead letters closed in staged/; (b) checks of Great
Expectations; (c) verdict from the rolling score; (d) files moved to accepted/ or quarantine/, and dead-letter/; (e) the ledger
entry, by an atomic rename. A kill between any two steps replays the pane under the same names.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.gates import ledger
from evenflow.gates.expectations import PaneChecks
from evenflow.gates.lock import OutputLock
from evenflow.gates.verdict import Thresholds, decide, worst
from evenflow.pipelines import gate
from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures, mentions
from evenflow.schemas.ledger import (
    AttributeEntry,
    Heavy,
    PaneEntry,
    Shard,
    SourceRange,
    Sums,
    Verdict,
)
from evenflow.transforms import files
from evenflow.transforms.annotate import Annotator
from evenflow.transforms.representation import add, score
from evenflow.transforms.shards import described, seal, write_shards

TOP_LABELS = 40  # labels a pane and attribute that the ledger keeps


class RunError(RuntimeError):
    """The run cannot go on; the message says what to do."""


@dataclass
class Progress:
    """What the terminal shows after each pane."""

    entry: PaneEntry
    seconds: float
    input_bytes: int
    total_bytes: int


@dataclass
class Outcome:
    """How a run ended: its ledger, how many panes were new, and whether it halted."""

    entries: list[PaneEntry]
    new: int
    halted: bool = False


@dataclass
class Run:
    """One run of the gate on files. on_pane is called after each commit."""

    inputs: list[str]
    output: Path
    config: Config
    workers: int = 1
    on_pane: Callable[[Progress], None] = lambda progress: None
    _timings: dict[str, float] = field(default_factory=dict)

    def go(self) -> Outcome:
        """Run to the end, a halt or an error. Raises RunError, InputError, OSError, ledger.LedgerError, lock.LockedError."""
        names = files.match(self.inputs)
        self.output.mkdir(parents=True, exist_ok=True)
        for folder in ("accepted", "quarantine", "dead-letter", "staged", "ledger", "checks", "gate"):
            (self.output / folder).mkdir(exist_ok=True)
        with OutputLock(self.output):
            return self._locked(names)

    def _locked(self, names: list[str]) -> Outcome:
        self._annotator = Annotator(self.config)
        record = self._record(names)
        entries = ledger.read_entries(self.output)
        known = ledger.read_meta(self.output)
        if known is not None:
            changed = ledger.changed_settings(known["settings"], record)
            if changed:
                lines = "\n  ".join(changed)
                raise RunError(
                    f"{self.output} was begun with other settings:\n  {lines}\ngo on with those, or give another --output"
                )
            if known["finished"]:
                return Outcome(entries, 0)
        else:
            self._note(record, finished=False)
        self._clear_leftovers(entries)
        total = sum(Path(name).stat().st_size for name in names if Path(name).exists())
        checks = PaneChecks(self.output, Path(self.config.checks.suite) if self.config.checks.suite else None)
        done = len(entries)
        if entries and self._halts(entries[-1]):
            return Outcome(entries, 0, halted=True)
        panes = (pane for pane in gate.cut(names, self.config) if pane.number >= done)
        read = sum(entry.input_bytes for entry in entries)
        for pane, seconds in gate.staged_panes(panes, self.config, self.output / "staged", self.workers):
            began = time.perf_counter()
            self._timings = {"annotate": seconds}
            entry = self._commit(pane, entries, checks)
            entries.append(entry)
            read += entry.input_bytes
            self._time_pane(entry, seconds + time.perf_counter() - began)
            self.on_pane(Progress(entry, seconds + time.perf_counter() - began, read, total))
            if self._halts(entry):
                checks.docs()
                return Outcome(entries, len(entries) - done, halted=True)
        checks.docs()
        self._note(record, finished=True)
        return Outcome(entries, len(entries) - done)

    def _halts(self, entry: PaneEntry) -> bool:
        return self.config.gate.policy == "halt" and entry.folder == "quarantine"

    def _record(self, names: list[str]) -> dict[str, Any]:
        """What must be the same for a run to be continued: configuration, word lists and input."""
        return {
            "configuration": self.config.model_dump(),
            "wordlists": {
                words.attribute: hashlib.sha256(repr((words.groups, sorted(words.labels.items()))).encode()).hexdigest()
                for words in self._annotator.lists
            },
            "input": {name: Path(name).stat().st_size if Path(name).exists() else None for name in names},
        }

    def _note(self, record: dict[str, Any], finished: bool) -> None:
        meta = {"version": 1, "settings": record, "configuration": record["configuration"], "finished": finished}
        ledger.write_meta(self.output, meta)

    def _clear_leftovers(self, entries: list[PaneEntry]) -> None:
        """Remove what a killed run left without a ledger entry: staged blocks, and files moved before their entry."""
        shutil.rmtree(self.output / "staged")
        (self.output / "staged").mkdir()
        known = {shard.name for entry in entries for shard in (*entry.shards, *filter(None, [entry.dead_letters]))}
        for folder in ("accepted", "quarantine", "dead-letter"):
            for path in (self.output / folder).glob("part-*"):
                if path.name not in known:
                    path.unlink()

    def _commit(self, pane: gate.Pane, entries: list[PaneEntry], checks: PaneChecks) -> PaneEntry:
        folder = self.output / "staged" / f"{pane.number:08d}"
        figures = gate.read_figures(folder)
        with self._timed("shards"):
            staged = sorted(folder.glob("*.arrow"))
            shards = write_shards(staged, folder, pane.number, self._annotator.schema, self.config.shards.rows)
            letters = self._dead_letters(folder, pane.number)
        attributes = {
            words.attribute: self._attribute(words.attribute, words.groups, figures.attributes, entries)
            for words in self._annotator.lists
        }
        with self._timed("checks"):
            checked = checks.run(pane.number, self._frame(folder, shards), attributes)
        state = worst([each.verdict.state for each in attributes.values()])
        reasons = [f"{name}: {each.verdict.reason}" for name, each in attributes.items() if each.verdict.state == state]
        verdict = Verdict(state=state, reason="; ".join(reasons))
        if not checked.success:
            failed = ", ".join(sorted({failure.expectation for failure in checked.failures}))
            verdict = Verdict(state="block", reason=f"checks failed: {failed}")
        entry = PaneEntry(
            pane=pane.number,
            source=[SourceRange(file=each.file, first=each.first, last=each.last) for each in pane.segments],
            input_bytes=figures.input_bytes,
            text_bytes=figures.text_bytes,
            documents=figures.documents,
            dead=sum(figures.dead_reasons.values()),
            dead_reasons=figures.dead_reasons,
            sentences=figures.sentences,
            attributes=attributes,
            shards=shards,
            dead_letters=letters,
            checks=checked,
            verdict=verdict,
            folder="quarantine" if verdict.state == "block" else "accepted",
        )
        with self._timed("commit"):
            self._move(folder, self.output / entry.folder, [shard.name for shard in shards])
            self._move(folder, self.output / "dead-letter", [letters.name] if letters else [])
            ledger.write_entry(self.output, entry)
            shutil.rmtree(folder)
        return entry

    def _attribute(
        self, name: str, groups: tuple[str, ...], figures: dict[str, AttributeFigures], entries: list[PaneEntry]
    ) -> AttributeEntry:
        settings = self.config.attributes.get(name)
        target = [1 / len(groups)] * len(groups)
        if settings is not None and settings.target is not None:
            target = [settings.target[group] for group in groups]
        zero = AttributeFigures(0, [0] * len(groups), [[0] * len(groups) for _ in groups])
        seen = figures.get(name, zero)
        sums = Sums(documents=seen.documents, counts=seen.counts, products=seen.products)
        rolling = cumulative = sums
        for distance, entry in enumerate(reversed(entries), 1):
            earlier = entry.attributes[name].sums
            cumulative = add(cumulative, earlier)
            if distance < self.config.pane.rolling:
                rolling = add(rolling, earlier)
        confidence = self.config.gate.confidence
        rolled = score(rolling, target, confidence)
        limits = self.config.gate
        warn = settings.warn if settings is not None and settings.warn is not None else limits.warn
        block = settings.block if settings is not None and settings.block is not None else limits.block
        previous = entries[-1].attributes[name].verdict.state if entries else None
        top = sorted(seen.labels.items(), key=lambda item: (-item[1], item[0]))[:TOP_LABELS]
        return AttributeEntry(
            groups=list(groups),
            target=[round(share, 9) for share in target],
            sums=sums,
            pane=score(sums, target, confidence),
            rolling=rolled,
            cumulative=score(cumulative, target, confidence),
            verdict=decide(rolled, Thresholds(warn, block, limits.min_mentions, limits.hysteresis), previous),
            relevant_sentences=seen.relevant,
            labels=dict(top),
            heavy=[Heavy(id=each["id"], counts=each["counts"], snippet=each["snippet"]) for each in seen.heavy],
        )

    def _frame(self, folder: Path, shards: list[Shard]) -> Any:
        """The pane's shards as the checks see them: ids, text lengths and mentions, read back from the files."""
        columns = [
            "id",
            "text",
            *(mentions(each.name, group) for each in self._annotator.attributes for group in each.groups),
        ]
        tables = [
            pq.read_table(folder / shard.name, columns=columns).append_column(
                "shard", pa.array([shard.name] * shard.rows, pa.string())
            )
            for shard in shards
        ]
        return pa.concat_tables(tables).to_pandas() if tables else self._annotator.schema.empty_table().to_pandas()

    def _dead_letters(self, folder: Path, pane: int) -> Shard | None:
        parts = [path for path in sorted(folder.glob("*.jsonl")) if not path.name.startswith("part-")]
        if not parts:
            return None
        path = folder / f"part-{pane:08d}.jsonl"
        with path.open("wb") as out:
            for part in parts:
                out.write(part.read_bytes())
        seal(path)
        return described(path, path.read_bytes().count(b"\n"))

    def _move(self, source: Path, target: Path, names: list[str]) -> None:
        """Rename files into their folder, durably."""
        for name in names:
            (source / name).replace(target / name)
        descriptor = os.open(target, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)

    def _timed(self, stage: str) -> _Timer:
        return _Timer(self._timings, stage)

    def _time_pane(self, entry: PaneEntry, seconds: float) -> None:
        line = {
            "pane": entry.pane,
            "seconds": round(seconds, 4),
            "input_bytes": entry.input_bytes,
            "documents": entry.documents,
            "stages": {stage: round(value, 4) for stage, value in self._timings.items()},
        }
        with (self.output / "gate" / "timings.jsonl").open("ab") as file:
            file.write(orjson.dumps(line) + b"\n")


class _Timer:
    """Adds the seconds of a with-block to a stage."""

    def __init__(self, into: dict[str, float], stage: str):
        self._into, self._stage = into, stage

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        self._into[self._stage] = self._into.get(self._stage, 0.0) + time.perf_counter() - self._began


def measure(inputs: list[str], config: Config) -> Iterator[Figures]:
    """Figures of each block of the input, nothing written and no sentences bounded."""
    annotator = Annotator(config)
    for name in files.match(inputs):
        for block in files.blocks(name):
            yield annotator.annotate(block, sentences=False).figures
