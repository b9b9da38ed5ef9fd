"""`evenflow coverage`: gaps where attributes meet."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.cli.coverage_options import COUNTED, Counting, print_parts


@command(
    "evenflow coverage gaps people.csv --attributes sex,race,age --tau 0.5%",
    "evenflow coverage gaps corpus/ --attributes gender,age --tau 0.01",
    "evenflow coverage gaps a.parquet --attributes gender,site --tau 30 --json",
    options=COUNTED,
)
def gaps(
    inputs: options.InputsArgument,
    *,
    counting: Counting,
    page: Annotated[Path | None, option("FILE", "Write the gaps as an HTML page.")] = None,
    most: Annotated[
        int | None, option("N", "Most gaps that are listed.  [default: 20; JSON: all]", min=1)
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """List the meetings of attributes that are too rare, the largest gap first.

    Attributes are columns of a table (.csv, .parquet, .jsonl), or attributes that a text names:
    «old women» is a meeting of age and gender.
    """
    from evenflow.pipelines.terminal import coverage_tables

    records = counting.records(inputs)
    things = records.things
    parts = records.summaries(counting.depth, most or (None if as_json else 20))
    if page is not None:
        from evenflow.pipelines.pages.report.coverage import page as drawn

        page.write_text(drawn(parts, things), encoding="utf-8")
    print_parts(parts, as_json, lambda: coverage_tables.gaps(parts, things))
    if page is not None:
        print(f"page: {page}", file=sys.stderr)
