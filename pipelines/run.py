"""The driver of `evenflow run` on files: cuts panes, lets the graph read them, and commits them in order."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenflow.gates import hold, ledger
from evenflow.gates.lock import OutputLock
from evenflow.pipelines import commit, gate, workers
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.schemas.ledger import PaneEntry, SourceRange
from evenflow.transforms import files
from evenflow.wordlists import loader
from evenflow.wordlists.loader import WordList


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

    entries: Sequence[PaneEntry]
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
        lists = [loader.load(each.wordlist or name) for name, each in self.config.attributes.items()]
        commit.make_folders(self.output)
        with OutputLock(self.output):
            record = settings(self.config, lists, {"input": {files.shown(name): size for name, size in names.items()}})
            entries, finished = begin(self.output, record, self.config)
            if finished:
                return Outcome(entries, 0)
            commit.clear_leftovers(self.output, entries)
            if held := hold.held(self.output, entries, self.config.gate.policy):
                return Outcome(entries, 0, held)
            return self._read(names, record, commit.Committer(self.output, self.config, lists, entries))

    def _read(self, names: dict[str, int], record: dict[str, Any], committer: commit.Committer) -> Outcome:
        done, total = len(committer.entries), sum(names.values())
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
                    folder = place.folder(pane.number)
                    ranges = [
                        SourceRange(file=files.shown(each.file), first=each.first, last=each.last) for each in pane.segments
                    ]
                    entry = committer.commit(folder, gate.read_ready(folder), ranges, timings)
                    now = time.perf_counter()
                    spent_here = now - began - timings.pop(commit.START, 0.0)  # once a run, it is no pane's
                    committer.note_timings(entry, spent_here, timings)
                    self.on_pane(Progress(entry, spent_here, pane.stored, total))
                    began = now
                    if held := committer.held():
                        break
                if held:
                    break
        finally:
            source.close()
        committer.finish()
        commit.clear_staged(self.output)
        if not held:
            note(self.output, record, self.config, finished=True)
        return Outcome(committer.entries, len(committer.entries) - done, held)


def settings(config: Config, lists: list[WordList], source: dict[str, Any]) -> dict[str, Any]:
    """What must be the same for a run to be continued: configuration, word lists and source."""
    digests = {
        words.attribute: hashlib.sha256(repr((words.groups, sorted(words.labels.items()))).encode()).hexdigest()
        for words in lists
    }
    kept = config.model_dump()
    # These change nothing that was measured or committed: a run may go on with others.
    del kept["gate"]["policy"], kept["measure"]["epsilon"], kept["kafka"], kept["metrics"]
    del kept["stereotypes"]["encoder"]  # where it lies is nothing; what it is stands below
    asked = config.llm.url is not None and config.tells_sentences
    for name in ("url", "key", "cache", "cache_mib", "deadline", "concurrency"):  # where and how, not what is asked
        del kept["llm"][name]
    told = {"prompts": _prompts()} if asked else {}
    return {"configuration": kept, "wordlists": digests, **told, **_encoder(config), **source}


def _encoder(config: Config) -> dict[str, str]:
    """The digest of the sentence encoder, if one is asked: with another, other sentences would be called."""
    if config.stereotypes.encoder is None or not config.looks_for_stereotypes:
        return {}
    from evenflow.transforms.stereotyping import stereotype_minilm

    return {"encoder": stereotype_minilm.digest(Path(config.stereotypes.encoder))}


def _prompts() -> dict[str, str]:
    """The digests of the prompts: other prompts are another run."""
    from evenflow.prompts import loader as prompts

    return {name: prompts.load(name).digest for name in prompts.names()}


def begin(output: Path, record: dict[str, Any], config: Config) -> tuple[list[PaneEntry], bool]:
    """The ledger so far, and whether the run is finished; notes the settings of a new one.

    Raises RunError where it was begun with other settings, LedgerError, OSError.
    """
    entries = ledger.read_entries(output)
    known = ledger.read_meta(output)
    if known is None:
        note(output, record, config, finished=False)
        return entries, False
    if changed := ledger.changed_settings(known["settings"], record):
        lines = "\n  ".join(changed)
        raise RunError(f"{output} was begun with other settings:\n  {lines}\ngo on with those, or give another --output")
    return entries, bool(known["finished"])


def note(output: Path, record: dict[str, Any], config: Config, finished: bool) -> None:
    """Write ledger/meta.json."""
    meta = {"version": 1, "settings": record, "configuration": config.model_dump(), "finished": finished}
    ledger.write_meta(output, meta)
