"""Commits a pane that the graph has made ready, whatever its source was.

Each step is durable before the next: (a) shards and dead letters closed in staged/; (b) checks of
Great Expectations; (c) verdict from the rolling score; (d) files moved to accepted/ or quarantine/,
and dead-letter/; (e) the ledger entry, by an atomic rename. A kill between any two steps replays
the pane under the same names.
"""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Sequence
from functools import cached_property
from itertools import count, takewhile
from pathlib import Path
from typing import Any

import orjson

from evenflow.gates import hold
from evenflow.gates.expectations.checks import PaneChecks
from evenflow.gates.expectations.own_suite import Limit
from evenflow.gates.judge import PaneJudge, overall
from evenflow.gates.ledger.history import History
from evenflow.gates.ledger.id_index import IdIndex
from evenflow.gates.verdict import llm_verdict, reading_verdict
from evenflow.pipelines.panes.closing import Ready
from evenflow.pipelines.terminal.endings import undisturbed
from evenflow.schemas.config import Config
from evenflow.schemas.documents import weight
from evenflow.schemas.epoch import Epoch
from evenflow.schemas.ledger import Folder, PaneEntry, SourceRange, StreamPane
from evenflow.transforms.staging.shards import shard_name
from evenflow.transforms.stereotypes import calibration
from evenflow.wordlists.loader import WordList

START = "start checks"  # stage of the first commit: loading Great Expectations
FOLDERS = (
    "accepted",
    "quarantine",
    "dead-letter",
    "sentences",
    "staged",
    "ledger",
    "checks",
    "gate",
)


class Committer:
    """Judges and commits panes in order; entries is the ledger so far, and grows. lists: the
    attributes' word lists. epoch: of the program and settings at work."""

    def __init__(
        self,
        output: Path,
        config: Config,
        lists: Sequence[WordList],
        entries: History,
        epoch: Epoch | None = None,
    ):
        self.entries = entries
        self._output = output
        self._config = config
        self._lists = tuple(lists)
        self._epoch = epoch or Epoch()
        self._judge = PaneJudge(config, lists, entries.totals)
        self.index = (
            IdIndex(output, config.fields.id, entries) if config.duplicates.scope == "run" else None
        )
        if config.checks.suite:
            self.prepare()  # what is wrong with a user's suite is said before anything is read

    def prepare(self) -> PaneChecks:
        """Make the checks ready, which takes seconds the first time; otherwise the first commit
        does it. Raises SuiteError.
        """
        return self._checks

    @cached_property
    def _checks(self) -> PaneChecks:
        # Made at the first pane: while workers read, its slow import costs no time.
        config, gate = self._config, self._config.gate
        limits = {
            words.attribute: Limit(
                self._judge.thresholds(words.attribute).block,
                self._judge.target(words),
                gate.min_mentions,
                gate.confidence,
                weight(words.attribute) if config.mode(words.attribute) == "reweight" else None,
            )
            for words in self._lists
        }
        suite = Path(config.checks.suite) if config.checks.suite else None
        strong = {name: least for name in limits if (least := _strong(config, name)) is not None}
        return PaneChecks(
            self._output,
            suite,
            lists=self._lists,
            limits=limits,
            identity=config.fields.id,
            text=config.fields.text,
            strong=strong,
            sentences=config.has_sentence_table,
        )

    def commit(
        self,
        folder: Path,
        ready: Ready,
        source: list[SourceRange],
        timings: dict[str, float],
        stream: StreamPane | None = None,
    ) -> PaneEntry:
        """Commit the next pane, whose closed files lie in folder (a); adds its seconds by step to
        timings. Raises OSError.
        """
        attributes = self._judge.judge(ready.figures, ready.repairs, ready.stereotypes)
        began = time.perf_counter()
        if "_checks" not in self.__dict__:
            self.prepare()
            timings[START] = time.perf_counter() - began
            began = time.perf_counter()
        paths = [folder / shard.name for shard in ready.shards]
        table = ready.sentence_table
        sentences = None if table is None else (folder / table.name, table.rows)
        # (b)
        checked = self._checks.run(
            len(self.entries), paths, attributes, ready.figures.documents, sentences
        )
        timings["checks"] = time.perf_counter() - began
        figures, gate = ready.figures, self._config.gate
        aside = ready.set_aside.rows if ready.set_aside else 0
        reading = reading_verdict(figures.dead_reasons, figures.documents + aside, gate.most_dead)
        asked = self._config.llm
        asking = (
            llm_verdict(figures.llm, asked.most_fallbacks, asked.fallbacks) if figures.llm else None
        )
        verdict = overall(attributes, checked, reading, asking)  # (c)
        place: Folder = "quarantine" if verdict.state == "block" else "accepted"
        self._judge.score_accepted(attributes, place)
        entry = PaneEntry(
            pane=len(self.entries),
            source=source,
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
            folder=place,
            stream=stream,
            sentence_table=ready.sentence_table,
            set_aside=ready.set_aside,
            llm=_cost(ready.figures.llm),
            reading=reading,
            asking=asking,
            epoch=self._epoch.number,
            program=self._epoch.program,
        )
        began = time.perf_counter()
        # Whoever stops the run finds no file in accepted/ that the ledger does not name
        with undisturbed():
            self._move(folder, entry.folder, [shard.name for shard in ready.shards])  # (d)
            self._move(
                folder, "dead-letter", [ready.dead_letters.name] if ready.dead_letters else []
            )
            self._move(folder, "quarantine", [ready.set_aside.name] if ready.set_aside else [])
            self._move(
                folder, "sentences", [ready.sentence_table.name] if ready.sentence_table else []
            )
            self.entries.commit(entry)  # (e)
        shutil.rmtree(folder)
        if self.index is not None:
            self.index.add(entry)
        timings["commit"] = time.perf_counter() - began
        return entry

    def held(self) -> str | None:
        """Why the gate is held now; None if it may go on."""
        return hold.held_reason(self._output, self.entries.totals, self._config.gate.policy)

    def finish(self) -> None:
        """Build the data docs, if any pane was checked by this committer."""
        if "_checks" in self.__dict__:
            self._checks.docs({pane for pane, _ in self.entries.totals.last_failures})

    def note_timings(self, entry: PaneEntry, seconds: float, timings: dict[str, float]) -> None:
        """Add a line to gate/timings.jsonl. Clock times are no part of the ledger, which is the
        same in every run.
        """
        line = {
            "pane": entry.pane,
            "seconds": round(seconds, 4),
            "input_bytes": entry.input_bytes,
            "documents": entry.documents,
            "stages": {stage: round(value, 4) for stage, value in timings.items()},
        }
        with (self._output / "gate" / "timings.jsonl").open("ab") as file:
            file.write(orjson.dumps(line) + b"\n")

    def _move(self, source: Path, folder: str, names: list[str]) -> None:
        """Rename files into a folder of the output, durably."""
        for name in names:
            (source / name).replace(self._output / folder / name)
        descriptor = os.open(self._output / folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _strong(config: Config, attribute: str) -> tuple[float, float] | None:
    """The least score and probability of a stereotype that is taken out; None where none is."""
    if config.policy(attribute) not in ("remove", "quarantine"):
        return None
    cut = calibration.cut(attribute, config.stereotypes.precision)
    return None if cut is None else (config.stereotype_threshold(attribute), cut)


def _cost(llm: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]] | None:
    """What asking cost, with its latency's quantiles; None where nothing was asked."""
    if not llm:
        return None
    from evenflow.transforms.llm.client.stats import Stats  # it is there wherever an LLM is

    return {name: Stats.from_json(each).as_json() for name, each in sorted(llm.items())}


def make_folders(output: Path) -> None:
    """The folders of an output directory. Raises OSError."""
    for folder in FOLDERS:
        (output / folder).mkdir(parents=True, exist_ok=True)


def clear_staged(output: Path) -> None:
    """Empty staged/."""
    shutil.rmtree(output / "staged")
    (output / "staged").mkdir()


def clear_leftovers(output: Path, panes: int) -> None:
    """Remove what a killed run left without a ledger entry: staged blocks, and files moved before
    their entry. These are of the one pane behind those that were committed, and by their names: a
    folder of a million files need not be looked through."""
    clear_staged(output)
    for folder in ("accepted", "quarantine"):
        shards = (output / folder / shard_name(panes, number) for number in count())
        for path in takewhile(Path.exists, shards):  # they were moved in this order
            path.unlink()
    for folder, suffix in (
        ("quarantine", "-aside.parquet"),
        ("dead-letter", ".jsonl"),
        ("sentences", ".parquet"),
    ):
        (output / folder / f"part-{panes:08d}{suffix}").unlink(missing_ok=True)
