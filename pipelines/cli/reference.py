"""`evenflow reference`: what each source is, for the verdict."""

from __future__ import annotations

import shlex
from pathlib import Path

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.lines import visible


@command(
    "evenflow reference corpus/ --by source --output reference.json",
    "evenflow reference out --output reference.json --add",
    keys=("reference.by",),
    section="reference",
)
def reference(
    inputs: list[str],
    *,
    settings: options.Selection,
    output: Path = Path("reference.json"),
    add: bool = False,
    force: bool = False,
) -> None:
    """Write what each source of a corpus, or of accepted panes, is.

    A run with `reference.file` compares each source with it. Sources are the values of a field, or
    files by their names without digits. Of an output, the sources are those of its run.

    Exit status: 0 done, 2 wrong usage, or the file is there already, 1 failure.

    Args:
        output: The file that is written.
        add: Add sources that the file does not have yet; keep the rest.
        force: Replace the file.
    """
    from evenflow.pipelines.cli.gate import opened
    from evenflow.pipelines.engine.files import reference as making
    from evenflow.transforms.measures.shift.measure import NAMED, read, wandering
    from evenflow.transforms.measures.shift.reference import judged
    from evenflow.transforms.storage.storage import at

    if output.exists() and not (force or add):
        text = f"{output} is there already; --add adds new sources, --force replaces it"
        raise options.wrong("--output", text)
    config = settings.configuration()
    old = read(str(output)) if add and output.exists() else None
    by = config.reference.by
    if by is None and old is not None:
        config.reference.by = old.by
    if len(inputs) == 1 and (Path(inputs[0]) / "ledger").is_dir():
        history, of_run = opened(at(inputs[0]))
        if of_run is not None and by is None:
            config.reference.by = of_run.reference.by
        found = making.of_output(list(history), config)
    else:
        found = making.count(options.sizes_of(inputs, config), config).reference(config)
    if old is not None:
        found = making.joined(old, found)
    making.write(found, output)
    for name, own in found.strata.items():
        attributes = judged(own, found.groups)
        print(
            f"{visible(name)}: {', '.join(attributes) or 'too few mentions: learnt during a run'}"
        )
    for text in wandering(found)[:NAMED]:
        options.note(text)
    key = f"--set reference.file={shlex.quote(str(output))}"
    print(f"{output}: {len(found.strata):,} sources; use it with\n  evenflow run … {key}")
