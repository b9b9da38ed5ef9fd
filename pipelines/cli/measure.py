"""`evenflow measure` and `compare`: figures of files, nothing written."""

from __future__ import annotations

import sys

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import Session, empty


@command(("measure.count",), "measure")
def measure(
    inputs: list[str],
    *,
    selection: options.Selection,
    session: Session,
    by: str | None = None,
    associations: bool = False,
    allow_empty: bool = False,
    quiet: bool = False,
) -> options.Shown:
    """Count labels and score DR with its interval, per attribute.

    Nothing is written. A file that nothing reads is left out, and counted on standard error.

    Exit status: 0 done, 3 there was no document, 2 wrong usage or configuration, 1 failure.

    Args:
        by (FIELD): Also for each source, by the field that names it, worst first.
        associations: Also find the words that name no group and lean to one.

    Examples:
        evenflow measure corpus/
        evenflow measure corpus/ --by source
        evenflow measure 'corpus/*.jsonl.gz' --attribute gender --json
        evenflow measure a.parquet --set fields.text=body --wordlist mine.yaml
        evenflow measure corpus/ --associations
    """
    from evenflow.pipelines.corpus.measure import measure as figures_of
    from evenflow.pipelines.terminal import summaries, tables
    from evenflow.pipelines.terminal.progress import reporter
    from evenflow.schemas.documents import Figures
    from evenflow.transforms.annotation.people import resolve

    config = selection.configuration({"reference.by": by})
    total, course = Figures(), summaries.Course()
    also = None
    if associations:
        from evenflow.pipelines.corpus.associations import Associations

        also = Associations(config.word_lists())
    # Elsewhere than on a terminal the figures themselves are the report.
    sizes = options.sizes_of(inputs, config)
    with reporter("text", sizes, quiet or not sys.stderr.isatty()) as progress:
        for figures in figures_of(inputs, config, also and also.counters):
            if also is not None:
                also.take(figures)
            total.add(figures)
            course.note(total)
            progress.on_measured(figures)
    resolve(total, config)
    result = summaries.measured(total, config, course)
    if also is not None:
        also.finish(result)
    for reason, number in total.dead_reasons.items():
        print(f"evenflow: not measured: {number:,} ({reason})", file=sys.stderr)
    status = 0 if total.documents or allow_empty else empty(session)
    return options.Shown(result, tables.measured, status)


def compare(
    first: str,
    second: str,
    *,
    selection: options.Selection,
    session: Session,
    by: str | None = None,
    unpaired: bool = False,
) -> options.Shown:
    """Compare two inputs, such as two months.

    Shows the difference of DR and of each group's share, with intervals over documents. With --by,
    also for each source, worst first, and with the same mix of sources on both sides: a difference
    that the mix alone makes is gone there.

    Inputs that share ids are versions of one corpus, the older first: documents on both sides are
    paired, and removed is what the newer lacks. Of these, and of accepted/ and quarantine/ of an
    output, it is shown how much more of a group's mentions was removed than of all.

    Nothing is written. Exit status: 0 done, 3 there was no document, 2 wrong usage or
    configuration, 1 failure.

    Args:
        first (INPUT): A path, folder or glob.
        second (OTHER): What it is compared with.
        by (FIELD): Compare by the source that this field names, too.
        unpaired: Equal ids name different documents.

    Examples:
        evenflow compare january/ february/ --by source
        evenflow compare out/accepted out/quarantine
        evenflow compare 'v1/*.jsonl.gz' 'v2/*.jsonl.gz' --attribute gender --json
    """
    from evenflow.pipelines.corpus.compare import compared
    from evenflow.pipelines.terminal import comparison

    config = selection.configuration()
    found = compared([first], [second], config, by, unpaired, options.note)
    status = 0 if all(found["documents"]) else empty(session)
    return options.Shown(found, comparison.draw, status)
