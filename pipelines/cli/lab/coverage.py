"""`evenflow coverage plan` and `generate`: records that would fill the gaps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import click

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.cli.coverage import COUNTED, Counting, print_parts


@command(
    "evenflow coverage plan people.csv --attributes sex,race --tau 2%",
    "evenflow coverage plan a.csv --attributes a,b --tau 9 --balance a:b=adaptive",
    keys=COUNTED,
    section="coverage",
)
def coverage_plan(
    inputs: list[str],
    *,
    counting: Counting,
    worst: options.Count | None = None,
    balance: Sequence[str] = (),
    rates: str = "",
    as_json: bool = False,
) -> None:
    """Plan the fewest additions that fill the gaps.

    Args:
        worst: Fill only the largest gaps.  [default: all]
        balance (A:B=E): Shares of A's groups within E of even ones in each value of B; repeatable.
            E may be adaptive: bounds by the present share.
        rates (A1,A2,B1,B2): Rates of adaptive balances.  [default: 1.5,0.9,2,1.1]
    """
    from evenflow.pipelines.terminal import coverage_tables
    from evenflow.transforms.lab.coverage.planned import Wishes, planned
    from evenflow.transforms.lab.generation.items import needs_of

    records = counting.records(inputs)
    things, needs = records.things, needs_of(records.config, records.of_text)
    wishes = Wishes.parse(balance, worst, rates)
    parts = {
        name: planned(each, counting.depth, wishes, things, needs)
        for name, each in records.parts().items()
    }
    print_parts(parts, as_json, lambda: coverage_tables.plans(parts, things))


@command(
    "evenflow coverage plan c/ --attributes gender --tau 30 --json > p.json",
    "evenflow coverage generate c/ --attributes gender --plan p.json --out a.json",
    keys=COUNTED,
    section="coverage",
)
def coverage_generate(
    inputs: list[str],
    *,
    settings: options.Settings,
    plan: Path,
    out: Path,
    tries: Annotated[float, click.FloatRange(1)] = 5,
    seed: int = 0,
    perplexity_model: str | None = None,
    as_json: bool = False,
) -> None:
    """Write the records of a plan, and check each of them.

    A language model (section llm) writes in the style of the input. What it writes is
    checked against the plan, the facts and the input; the command ends where this cannot be done.

    Args:
        plan: What `evenflow coverage plan --json` wrote.
        out: JSON lines of the new records.
        tries: Most candidates for each record.
        perplexity_model (DIR): Causal model; a text's perplexity must be within 95 % of the input's
            sentences.
    """
    from evenflow.pipelines.engine.files.coverage import Records
    from evenflow.pipelines.terminal import coverage_tables
    from evenflow.transforms.lab.generation import writing

    try:
        plans = json.loads(plan.read_bytes())
    except (OSError, ValueError) as error:
        raise options.wrong("--plan", f"{plan}: {error}") from error
    config = settings.configuration()
    if config.llm.url is None:
        text = "a language model writes the records: --set llm.url=URL --set llm.model=NAME"
        raise options.wrong("--set", text)
    by, known = config.coverage.by, Records(inputs, config).known
    parts = plans if by is not None else {None: plans}
    session = writing.Session(
        inputs, config, config.coverage.named(), known, seed, perplexity_model
    )
    results = {
        name: session.write(each, tries, {} if name is None else {str(by): name})
        for name, each in parts.items()
    }
    with out.open("wb") as file:
        for each in results.values():
            file.writelines(writing.lines(each))
    told = {name: writing.told(each) for name, each in results.items()}
    print_parts(told, as_json, lambda: coverage_tables.generated(told))
