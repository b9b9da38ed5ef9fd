"""Commits a pane that the graph has made ready, from files or from a topic.

Each step is durable before the next:

(a) shards and dead letters are closed in staged/;
(b) the checks of Great Expectations run;
(c) the verdict is taken from the rolling score;
(d) files move to accepted/ or quarantine/, and to dead-letter/;
(e) the ledger entry is written, by an atomic rename.

After a kill between two steps the pane is done again under the same names.
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

from evenflow.gates import bias_score, hold
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
from evenflow.schemas.ledger import PaneEntry, SourceRange, StreamPane
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
    """Judges and commits panes in order.

    Args:
        output: The output directory.
        config: The configuration.
        lists: The attributes' word lists.
        entries: The ledger so far; it grows with each commit.
        epoch: The epoch of the program and settings of this run.

    Attributes:
        entries: The ledger.
        index: Ids of all committed panes; None where duplicates count within a pane only.

    Raises:
        SuiteError: The user's suite of checks cannot be used.
    """

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
            self.prepare()  # an error in a user's suite is raised before anything is read

    def prepare(self) -> PaneChecks:
        """Make the checks ready, which takes seconds the first time.

        Without this call the first commit does it.

        Returns:
            The checks.

        Raises:
            SuiteError: The user's suite of checks cannot be used.
        """
        return self._checks

    @cached_property
    def _checks(self) -> PaneChecks:
        """The checks; made at the first pane, since workers read during their slow import."""
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
        """Judge and commit the next pane.

        Args:
            folder: The folder with the pane's closed files (a).
            ready: What close_pane wrote there.
            source: The records that the pane has read.
            timings: Seconds by stage; those of this method are added.
            stream: Span and positions of a pane of a topic; None: of files.

        Returns:
            The ledger entry.

        Raises:
            OSError: A file cannot be read or written.
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
        leaning = bias_score.judge(self._config, figures, self.entries.totals)
        verdict = overall(  # (c)
            attributes, checked, reading, asking, leaning.verdict if leaning is not None else None
        )
        place = verdict.folder
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
            bias_score=leaning,
        )
        began = time.perf_counter()
        # A stop waits, so that accepted/ never has a file that the ledger does not name
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
        """Return why the gate is held now; None if it is not."""
        return hold.held_reason(self._output, self.entries.totals, self._config.gate.policy)

    def finish(self) -> None:
        """Build the data docs, if this committer has checked a pane."""
        if "_checks" in self.__dict__:
            self._checks.docs({pane for pane, _ in self.entries.totals.last_failures})

    def note_timings(self, entry: PaneEntry, seconds: float, timings: dict[str, float]) -> None:
        """Append a line to gate/timings.jsonl.

        The ledger has no clock times, so that it is the same in every run.

        Args:
            entry: The pane's entry.
            seconds: Seconds since the commit before.
            timings: Seconds by stage.
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
    """The least score and probability of a stereotype that is removed; None: none is removed."""
    if config.policy(attribute) not in ("remove", "quarantine"):
        return None
    cut = calibration.cut(attribute, config.stereotypes.precision)
    return None if cut is None else (config.stereotype_threshold(attribute), cut)


def _cost(llm: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]] | None:
    """What asking a language model cost, with latency quantiles; None where none was asked."""
    if not llm:
        return None
    from evenflow.transforms.llm.client.stats import Stats  # an optional part of the installation

    return {name: Stats.from_json(each).as_json() for name, each in sorted(llm.items())}


def make_folders(output: Path) -> None:
    """Make the folders of an output directory. Raises OSError."""
    for folder in FOLDERS:
        (output / folder).mkdir(parents=True, exist_ok=True)


def clear_staged(output: Path) -> None:
    """Empty staged/."""
    shutil.rmtree(output / "staged")
    (output / "staged").mkdir()


def clear_leftovers(output: Path, panes: int) -> None:
    """Delete what a killed run left without a ledger entry.

    That is what is in staged/, and files that were moved before their entry was written. These are
    of the next pane, so their names are known: no folder of a million files is listed.

    Args:
        output: The output directory.
        panes: Number of committed panes.
    """
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
