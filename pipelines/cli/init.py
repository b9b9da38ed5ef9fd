"""`evenflow init`: a configuration and a reference to begin with, from a look at the input."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.lines import visible

if TYPE_CHECKING:
    from evenflow.pipelines.corpus.look import Look
    from evenflow.schemas.config import Config


@command(("reference.by",), "reference")
def init(
    inputs: Sequence[str] = (),
    *,
    output: Path = Path("evenflow.yaml"),
    reference: Path | None = None,
    add: bool = False,
    selection: options.Selection,
    force: bool = False,
) -> None:
    """Write a configuration and a reference, from a look at the input.

    The configuration names the fields of the text and the id, the size of a pane, and the
    attributes that the documents name. It says how many false alarms it makes in your files. A run
    compares each source with the reference: what it was. Sources are the values of a field, or
    files by their names without digits.

    Exit status: 0 done, 2 wrong usage, or the file is there already, 1 failure.

    Args:
        inputs (INPUT): Paths, folders or globs; none: the defaults. With --reference also the
            output of a run: its accepted panes.
        output: The configuration that is written.
        reference: Write a reference alone.
        add: Add sources that the reference does not have yet; keep the rest.
        force: Replace the file.

    Examples:
        evenflow init corpus/
        evenflow init 'corpus/*.jsonl.gz' --output corpus.yaml
        evenflow init out --reference reference.json --add
    """
    taken = output if reference is None else reference
    if taken.exists() and not (force or (add and reference is not None)):
        more = "" if reference is None else ", --add adds new sources"
        raise options.wrong(
            "--output" if reference is None else "--reference",
            f"{taken} is there already; --force replaces it{more}",
        )
    config = selection.configuration()
    if reference is not None:
        return _reference(inputs, config, reference, add)
    from evenflow.pipelines.corpus import reference as making
    from evenflow.pipelines.corpus.first_config import lines
    from evenflow.pipelines.corpus.look import NoTextError, look
    from evenflow.transforms.measures.shift.measure import NAMED, wandering
    from evenflow.transforms.measures.shift.reference import LEAST_DOCUMENTS, judged

    seen: Look | None = None
    beside, alarms = None, ""
    if inputs:
        found = options.sizes_of(inputs, config)
        try:
            seen = look(found, config)
        except NoTextError as error:
            raise options.wrong("INPUT", str(error)) from error
        beside = f"{output.stem}.reference.json"
        if seen.text is not None:
            config.fields.text = seen.text
            config.fields.id = seen.id or config.fields.id
        if seen.shape is not None:
            options.note(f"the records have the shape of {seen.shape}; texts are {seen.text}")
        config.reference.by = config.reference.by or seen.source
        counted = making.count(found, config)
        made = counted.reference(config)
        making.write(made, output.parent / beside)
        for each in wandering(made)[:NAMED]:
            options.note(each)
        if small := [name for name, own in made.strata.items() if not judged(own, made.groups)]:
            more = f" and {len(small) - NAMED} more" if len(small) > NAMED else ""
            options.note(
                f"too small to be compared: {', '.join(small[:NAMED])}{more}; a run learns such"
                f" sources ({LEAST_DOCUMENTS:.0f} documents that name a group are needed)"
            )
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


def _reference(inputs: Sequence[str], config: Config, to: Path, add: bool) -> None:
    """Write what each source of a corpus, or of the accepted panes of an output, is."""
    from evenflow.pipelines.cli.gate import opened
    from evenflow.pipelines.corpus import reference as making
    from evenflow.transforms.measures.shift.measure import NAMED, read, wandering
    from evenflow.transforms.measures.shift.reference import judged
    from evenflow.transforms.storage.storage import at

    if not inputs:
        raise options.wrong("INPUT", "a reference is made of a corpus, or of a run's output")
    old = read(str(to)) if add and to.exists() else None
    by = config.reference.by
    if by is None and old is not None:
        config.reference.by = old.by
    if len(inputs) == 1 and (Path(inputs[0]) / "ledger").is_dir():
        history, of_run, _ = opened(at(inputs[0]))
        if of_run is not None and by is None:
            config.reference.by = of_run.reference.by
        found = making.of_output(list(history), config)
    else:
        found = making.count(options.sizes_of(inputs, config), config).reference(config)
    if old is not None:
        found = making.joined(old, found)
    making.write(found, to)
    for name, own in found.strata.items():
        attributes = ", ".join(judged(own, found.groups))
        print(f"{visible(name)}: {attributes or 'too few mentions: learnt during a run'}")
    for text in wandering(found)[:NAMED]:
        options.note(text)
    key = f"--set reference.file={shlex.quote(str(to))}"
    print(f"{to}: {len(found.strata):,} sources; use it with\n  evenflow run … {key}")
