"""`evenflow.Gate`: the gate on files or on documents in memory."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from evenflow.inputs import Configuration, Inputs, configuration, lines, patterns
from evenflow.pipelines.files.driver import Run, RunError
from evenflow.pipelines.panes.output import refuse_foreign
from evenflow.pipelines.report.report import build
from evenflow.pipelines.terminal import summaries
from evenflow.pipelines.terminal.outcome import PaneProgress
from evenflow.transforms.storage.storage import Storage, at


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
        output: str | os.PathLike[str] | Storage,
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
            output: Where shards, ledger, checks and report go: a directory, or an address such as
                s3://bucket/prefix.
            workers: Processes that read and annotate. More than one needs a main module that can
                be imported (`if __name__ == "__main__":`), as multiprocessing does.
            on_pane: Called after each pane is committed.

        Returns:
            What `evenflow run --json` prints: state (open, warn or block), reason, panes,
            documents, accepted, quarantined, dead_letters, the figures of each attribute, report
            (its address) and new_panes.

        Raises:
            RunError: The output belongs to another run, or to nobody's.
            ChangedError: The input changed since a pane was read.
            InputError: There is nothing to read, or it cannot be read.
            LockedError: Another run uses the output.
            LedgerError: The ledger cannot be read.
            OSError: A device fails.
        """
        storage = at(output if isinstance(output, Storage) else os.fspath(output))
        refuse_foreign(storage)
        found = patterns(inputs)
        if found is None:
            found = [self._written(inputs, storage)]
        run = Run(found, storage, self.config, workers)
        if on_pane is not None:
            run.on_pane = on_pane
        outcome = run.go()
        return summaries.of_run(outcome, storage, build(storage))

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
