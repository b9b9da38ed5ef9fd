"""`evenflow init`: a configuration to begin with, from a look at the input."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command

if TYPE_CHECKING:
    from evenflow.pipelines.engine.files.look import Look


@command(
    "evenflow init corpus/",
    "evenflow init 'corpus/*.jsonl.gz' --output corpus.yaml",
    "evenflow run --input corpus/ --output out --config evenflow.yaml",
)
def init(
    inputs: Sequence[str] = (),
    *,
    output: Path = Path("evenflow.yaml"),
    lists: options.Lists,
    force: bool = False,
) -> None:
    """Write a configuration with comments, from a look at the input.

    It names the fields of the text and the id, the size of a pane, and the attributes that the
    documents name, and it has a reference beside it, with which each source is compared. It
    says how many false alarms that makes in your files.

    Exit status: 0 done, 2 wrong usage, or the file is there already, 1 failure.

    Args:
        inputs (INPUT): Paths, folders or globs; none: the defaults.
        output: The file that is written.
        force: Replace the file.
    """
    if output.exists() and not force:
        raise options.wrong("--output", f"{output} is there already; --force replaces it")
    from evenflow.pipelines.engine.files import reference
    from evenflow.pipelines.engine.files.first_config import lines
    from evenflow.transforms.measures.shift.measure import NAMED, wandering

    config = lists.configuration()
    seen: Look | None = None
    found = options.sizes_of(inputs, config) if inputs else {}
    if inputs:
        from evenflow.pipelines.engine.files.look import NoTextError, look

        try:
            seen = look(found, config)
        except NoTextError as error:
            raise options.wrong("INPUT", str(error)) from error
    beside, alarms = None, ""
    if seen is not None and inputs:
        beside = f"{output.stem}.reference.json"
        if seen.text is not None:
            config.fields.text = seen.text
            config.fields.id = seen.id or config.fields.id
        if seen.shape is not None:
            options.note(f"the records have the shape of {seen.shape}; texts are {seen.text}")
        config.reference.by = seen.source
        counted = reference.count(found, config)
        made = counted.reference(config)
        reference.write(made, output.parent / beside)
        for each in wandering(made)[:NAMED]:
            options.note(each)
        panes, warned, blocked = counted.alarms(config, seen.pane)
        alarms = (
            f"False alarms, in the order of the files, of one half judged by the other: of {panes}"
            f" panes {warned} with a warning, {blocked} blocked."
        )
    text = "\n".join(lines(seen, config, list(inputs), output.parent, beside, alarms)) + "\n"
    output.write_text(text, encoding="utf-8")
    source = shlex.join(inputs) if inputs else "INPUT"
    print(f"{output}: read it, then")
    print(f"  evenflow run --input {source} --output out --config {shlex.quote(str(output))}")
