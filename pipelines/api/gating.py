"""`evenflow.Gate`: the gate on files or on documents in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from evenflow.inputs import Configuration, Inputs, configuration, lines, patterns
from evenflow.pipelines.files.driver import Run
from evenflow.pipelines.panes.output import refuse_foreign
from evenflow.pipelines.report.report import build
from evenflow.pipelines.terminal import summaries
from evenflow.pipelines.terminal.outcome import PaneProgress
from evenflow.transforms.storage.storage import at


class Gate:
    """Measures, judges and commits documents, pane by pane.

    Args:
        config: A Config, the path of a YAML file, or a mapping of dotted keys to values, such as
            {"pane.docs": 1000, "gate.block": 0.4}. None stands for the defaults.
        attributes: Names of the attributes that are measured; empty for all.
        wordlists: Paths of word lists that are measured too.

    Attributes:
        config: The configuration (schemas.config.Config).

    Raises:
        ConfigError: The configuration cannot be used.
        WordListError: A word list cannot be used.

    Example:
        >>> from tempfile import TemporaryDirectory
        >>> texts = ["She met her brother.", "He met his sister."] * 50
        >>> gate = Gate({"pane.docs": 50}, attributes=["gender"])
        >>> with TemporaryDirectory() as folder:
        ...     result = gate.run(texts, f"{folder}/out")
        >>> result["state"], result["panes"], result["accepted"]
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

    def run(
        self,
        inputs: Inputs,
        output: str | os.PathLike[str],
        *,
        workers: int = 1,
        on_pane: Callable[[PaneProgress], None] | None = None,
    ) -> dict[str, Any]:
        """Run the gate to the end of its input, or to a halt.

        A second run on the same output continues there. Documents in memory are written to
        OUTPUT.input.jsonl first and stay there, since a run can go on only with a file.

        Args:
            inputs: A path, folder or glob (a str or Path), or a list of Paths; or documents:
                texts, mappings, a Hugging Face dataset, or a pandas frame.
            output: The directory of shards, ledger, checks and report.
            workers: Processes that read and annotate. More than one needs a main module that can
                be imported (`if __name__ == "__main__":`), as multiprocessing does.
            on_pane: Called after each pane is committed.

        Returns:
            What `evenflow run --json` prints: state (open, warn or block), reason, panes,
            documents, accepted, quarantined, dead_letters, the figures of each attribute, report
            (its path) and new_panes.

        Raises:
            RunError: The output belongs to another run, or to nobody's.
            ChangedError: The input changed since a pane was read.
            InputError: There is nothing to read, or it cannot be read.
            LockedError: Another run uses the output.
            LedgerError: The ledger cannot be read.
            OSError: A device fails.
        """
        folder = Path(output)
        refuse_foreign(folder)
        found = patterns(inputs)
        if found is None:
            found = [str(self._written(inputs, folder))]
        run = Run(found, at(folder), self.config, workers)
        if on_pane is not None:
            run.on_pane = on_pane
        outcome = run.go()
        return summaries.of_run(outcome, folder, build(folder))

    def _written(self, inputs: Any, output: Path) -> Path:
        """The file beside the output that documents in memory are written to."""
        path = output.with_name(f"{output.name}.input.jsonl")
        path.parent.mkdir(parents=True, exist_ok=True)
        part = path.with_name(f"{path.name}.part")
        with part.open("wb") as file:
            file.writelines(line + b"\n" for line in lines(inputs, self.config))
        part.replace(path)
        return path
