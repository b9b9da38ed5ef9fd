"""`evenflow init`: a configuration and a reference to begin with, from a look at the input."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.words import counted

if TYPE_CHECKING:
    from evenflow.pipelines.corpus.look import Look
    from evenflow.pipelines.corpus.reference import Counted
    from evenflow.schemas.config import Config
    from evenflow.transforms.measures.shift.reference import Known, Reference

SHOWN = 12  # sources that are named
FIRST = ("# From a look at ", "# A configuration of Evenflow.")  # how first_config.lines begins


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
        force: Replace a file that init wrote; a reference keeps the field of its sources and its
            attributes.

    Examples:
        evenflow init corpus/
        evenflow init 'corpus/*.jsonl.gz' --output corpus.yaml
        evenflow init out --reference reference.json --add
    """
    to = output.with_name(f"{output.stem}.reference.json") if reference is None else reference
    written = [output, *([to] if inputs else [])] if reference is None else [to]
    taken = [] if force or (add and reference) else [each for each in written if each.exists()]
    if reference is None and output.exists():
        _refuse_foreign(output)
    if taken:
        name, more = ("reference", ", --add adds new sources") if reference else ("output", "")
        raise options.wrong(f"--{name}", f"{taken[0]} is there already; --force replaces it{more}")
    config = selection.configuration()
    if reference is not None:
        return _reference(inputs, config, selection, reference, add)
    from evenflow.pipelines.corpus.first_config import lines

    seen: Look | None = None
    beside, alarms = None, ""
    if inputs:
        seen, found = _counted(inputs, config, selection, to)
        _write(found.reference(config), to)
        beside = to.name
        panes, warned, blocked = found.alarms(config, seen.pane)
        alarms = (
            f"False alarms, in the order of the files, of one half judged by the other: of {panes}"
            f" panes {warned} with a warning, {blocked} blocked."
        )
    text = "\n".join(lines(seen, config, list(inputs), output.parent, beside, alarms)) + "\n"
    output.write_text(text, encoding="utf-8")
    names = ("out" if at == 1 else f"out-{at}" for at in count(1))
    out = next(name for name in names if not Path(name).exists())
    print(f"{output}: read it; then later files, NEW, are judged by")
    print(f"  evenflow run NEW --output {out} --config {shlex.quote(str(output))}")


def _refuse_foreign(output: Path) -> None:
    """Refuse to replace a file that no `init` wrote."""
    with output.open(encoding="utf-8", errors="replace") as file:
        if not file.readline().startswith(FIRST):
            text = f"{output} was not written by init: it is not replaced; give another file"
            raise options.wrong("--output", text)


def _reference(
    inputs: Sequence[str], config: Config, selection: options.Selection, to: Path, add: bool
) -> None:
    """Write what each source of a corpus, or of the accepted panes of an output, is."""
    from evenflow.pipelines.cli.gate import opened
    from evenflow.pipelines.corpus import reference as making
    from evenflow.transforms.measures.shift.measure import read
    from evenflow.transforms.storage.storage import at

    old = read(str(to)) if to.exists() else None  # raises where it is another file of the user's
    if not inputs:
        raise options.wrong("INPUT", "a reference is made of a corpus, or of a run's output")
    if len(inputs) == 1 and (Path(inputs[0]) / "ledger").is_dir():
        history, of_run, _ = opened(at(inputs[0]))
        if of_run is not None and config.reference.by is None:
            config.reference.by = of_run.reference.by
        known = making.known(history)
        _keep(known, config, selection, inputs[0])
        made = making.of_output(known, config, len(history))
    else:
        made = _counted(inputs, config, selection, to)[1].reference(config)
    _write(making.joined(old, made) if add and old is not None else made, to)
    print(f"a run uses it with --set reference.file={shlex.quote(str(to))}")


def _counted(
    inputs: Sequence[str], config: Config, selection: options.Selection, to: Path
) -> tuple[Look, Counted]:
    """Look at a corpus, and count it by source: as before, where a reference is replaced."""
    from evenflow.pipelines.corpus import reference as making
    from evenflow.pipelines.corpus.look import NoTextError, look
    from evenflow.transforms.measures.shift.measure import read

    found, old = options.sizes_of(inputs, config), read(str(to)) if to.exists() else None
    if old is not None:
        _keep(old.strata, config, selection, str(to))
    try:
        seen = look(found, config)
    except NoTextError as error:
        raise options.wrong("INPUT", str(error)) from error
    if seen.text is not None:
        config.fields.text, config.fields.id = seen.text, seen.id or config.fields.id
    if seen.shape is not None:
        options.note(f"the records have the shape of {seen.shape}; texts are {seen.text}")
    config.reference.by = config.reference.by or (seen.source if old is None else old.by)
    return seen, making.count(found, config)


def _keep(
    strata: Mapping[str, Known], config: Config, selection: options.Selection, of: str
) -> None:
    """Measure the attributes that sources name already, unless the user chose some."""
    from evenflow.schemas.config.attributes import AttributeSettings
    from evenflow.wordlists.loader import NAMED

    every = {name for known in strata.values() for name, own in known.items() if any(own.sums)}
    lacking = [] if selection.attribute else sorted(every - config.attributes.keys())
    if own := [name for name in lacking if name not in NAMED]:
        text = f"{of} has {', '.join(own)}: give its list, or choose what stays with --attribute"
        raise options.wrong("--wordlist", text)
    config.attributes |= {name: AttributeSettings() for name in lacking}


def _write(made: Reference, to: Path) -> None:
    """Write a reference, and say what it holds."""
    from evenflow.pipelines.corpus.reference import write
    from evenflow.transforms.measures.shift.measure import NAMED, wandering
    from evenflow.transforms.measures.shift.reference import judged, lacking

    write(made, to)
    print(f"{to}: the reference of {counted(len(made.strata), 'source')}, by {made.by or 'file'}")
    by = {name: ", ".join(judged(own, made.groups)) for name, own in made.strata.items()}
    for name, attributes in sorted(by.items(), key=lambda each: bool(each[1]))[:SHOWN]:
        small = f"not judged: {lacking(made.strata[name])}"
        print(f"  {visible(name)}: {f'judged on {attributes}' if attributes else small}")
    if len(by) > SHOWN:
        print(f"  and {len(by) - SHOWN:,} more")
    for text in wandering(made)[:NAMED]:
        options.note(text)
