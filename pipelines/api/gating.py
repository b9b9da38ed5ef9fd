"""`evenflow.Gate`: the gate on files or on documents in memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evenflow.inputs import Inputs, lines, patterns
from evenflow.pipelines.engine.files.driver import Run, RunError
from evenflow.pipelines.engine.panes.output import refuse_foreign
from evenflow.pipelines.pages.report.report import build
from evenflow.pipelines.terminal import summaries
from evenflow.pipelines.terminal.outcome import Observer, PaneProgress
from evenflow.results import Outcome
from evenflow.settings import Configuration, configuration, wrong
from evenflow.transforms.storage.storage import Storage, at


def _warn(text: str) -> None:
    """Say what a run has to say."""
    warnings.warn(text, stacklevel=2)


class Gate:
    """Measures, judges and commits documents, pane by pane.

    Args:
        config: A Config, the path of a YAML file, or a mapping of dotted keys to values, such as
            {"pane.docs": 1000, "gate.block": 0.4}. None stands for the defaults.
        attributes: Names of the attributes that are measured; empty for all.
        wordlists: Paths of word lists that are measured too.

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> texts = ["She met her brother.", "He met his sister."] * 50
        >>> gate = Gate({"pane.docs": 50}, attributes=["gender"])
        >>> with TemporaryDirectory() as folder:
        ...     result = gate.run(texts, f"{folder}/out")
        >>> result.state, result.panes, result.accepted
        ('open', 2, 100)
    """

    def __init__(
        self,
        config: Configuration = None,
        *,
        attributes: Sequence[str] = (),
        wordlists: Sequence[str] = (),
    ):
        self.config = configuration(config, attributes, wordlists)

    def __repr__(self) -> str:
        return f"Gate(attributes={list(self.config.attributes)})"

    def run(
        self,
        inputs: Inputs,
        output: str | os.PathLike[str] | Storage,
        *,
        workers: int = 1,
        on_pane: Callable[[PaneProgress], None] | None = None,
        final: bool = False,
    ) -> Outcome:
        """Run the gate to the end of its input, or to a halt.

        A second run on the same output continues there. Documents in memory are written to
        OUTPUT.input.jsonl first and stay there, since a run can go on only with a file.

        Args:
            inputs: A path, folder or glob (a str or Path), or a list of Paths; or documents:
                texts, mappings, a Hugging Face dataset, a pandas frame, or a table
                of Arrow (polars, pyarrow, duckdb).
            output: Where shards, ledger, checks and report go: a directory, or an address such as
                s3://bucket/prefix.
            workers: Processes that read and annotate. More than one needs a main module that can
                be imported (`if __name__ == "__main__":`), as multiprocessing does.
            on_pane: Called after each pane is committed.
            final: Whether the half last line of a file, or its last member that is cut off, is read
                too, which else waits for the next run, with a warning.

        Returns:
            What `evenflow run --json` prints, and a table (`frame`): state (not_judged, open, warn
            or block), reason, panes, documents, accepted, quarantined, dead_letters, the figures of
            each attribute, report (its address) and new_panes.

        Raises:
            TypeError: An argument is of another type.
            ValueError: There is less than one worker.
            RunError: The output belongs to another run, or to nobody's.
            ChangedError: The input changed since a pane was read.
            InputError: There is nothing to read, or it cannot be read.
            LockedError: Another run uses the output.
            LedgerError: The ledger cannot be read.
            OSError: A device fails.
        """
        if not isinstance(output, str | os.PathLike | Storage):
            raise wrong("output", "a directory or an address", output)
        if type(workers) is not int:
            raise wrong("workers", "a whole number", workers)
        if workers < 1:
            raise ValueError(f"workers: 1 or more was expected, not {workers}")
        storage = at(output if isinstance(output, Storage) else os.fspath(output))
        refuse_foreign(storage)
        found = patterns(inputs)
        if found is None:
            found = [self._written(inputs, storage)]
        observer = Observer(note=_warn) if on_pane is None else Observer(on_pane, _warn)
        run = Run(found, storage, self.config, workers, observer=observer, final=final)
        outcome = run.go()
        return Outcome.of(summaries.of_run(outcome, storage, build(storage), self.config)[1])

    def _written(self, inputs: Any, output: Storage) -> str:
        """The address of the file beside the output that documents in memory are written to."""
        above, _, name = output.url.rpartition("/")
        name = f"{name}.input.jsonl"
        if output.local is not None:
            path = output.local.with_name(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            part = path.with_name(f"{path.name}.part")
            self._write(inputs, part)
            part.replace(path)
            return str(path)
        if above.endswith(":/"):
            raise RunError(f"{output}: documents need a place beside the output; give a folder")
        with TemporaryDirectory(prefix="evenflow-") as scratch:
            self._write(inputs, path := Path(scratch) / name)
            at(above).upload(path, name)
        return f"{above}/{name}"

    def _write(self, inputs: Any, path: Path) -> None:
        """Write documents in memory."""
        with path.open("wb") as file:
            file.writelines(line + b"\n" for line in lines(inputs, self.config))
