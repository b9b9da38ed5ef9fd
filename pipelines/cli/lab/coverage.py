"""`evenflow coverage plan`: records that would fill the gaps."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import click
import orjson

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.cli.coverage import COUNTED, Counting, shown


@command(COUNTED, "coverage")
def coverage_plan(
    inputs: list[str],
    *,
    counting: Counting,
    worst: options.Count | None = None,
    balance: Sequence[str] = (),
    rates: str = "",
    write: Path | None = None,
    tries: Annotated[float, click.FloatRange(1)] = 5,
    seed: int = 0,
    perplexity_model: str | None = None,
) -> options.Shown:
    """Plan the fewest additions that fill the gaps, and write them.

    With --write the language model (section llm) writes in the style of the input. What it writes
    is checked against the plan, the facts and the input; the command ends where this cannot be
    done.

    Args:
        worst: Fill only the largest gaps.  [default: all]
        balance (A:B=E): Shares of A's groups within E of even ones in each value of B; repeatable.
            E may be adaptive: bounds by the present share.
        rates (A1,A2,B1,B2): Rates of adaptive balances.  [default: 1.5,0.9,2,1.1]
        write: JSON lines of the new records.
        tries: Most candidates for each record.
        perplexity_model (DIR): Causal model; a text's perplexity must be within 95 % of the input's
            sentences.

    Examples:
        evenflow coverage plan people.csv --attributes sex,race --tau 2%
        evenflow coverage plan a.csv --attributes a,b --tau 9 --balance a:b=adaptive
        evenflow coverage plan c/ --attributes gender --tau 30 --write a.json
    """
    from evenflow.pipelines.terminal import coverage_tables
    from evenflow.transforms.lab.coverage.planned import Wishes, planned
    from evenflow.transforms.lab.generation import writing
    from evenflow.transforms.lab.generation.items import needs_of

    records = counting.records(inputs)
    config, things = records.config, records.things
    needs, wishes = needs_of(config, records.of_text), Wishes.parse(balance, worst, rates)
    if write is not None and config.llm.url is None:
        text = "a language model writes the records: --set llm.url=URL --set llm.model=NAME"
        raise options.wrong("--set", text)
    parts = {
        name: planned(each, counting.depth, wishes, things, needs)
        for name, each in records.parts.items()
    }
    drawn = {name: dict(each) for name, each in parts.items()}
    if counting.html is not None and balance:  # what balances cost
        alone = Wishes((), worst)
        for name, each in records.parts.items():
            drawn[name]["alone"] = planned(each, counting.depth, alone, things, needs)
    if write is None:
        counting.draw(drawn, things)
        return shown(parts, coverage_tables.plans, things)
    session = writing.Session(inputs, config, records.known, seed, perplexity_model)
    results = {
        name: session.write(each, tries, {} if name is None else {str(config.coverage.by): name})
        for name, each in parts.items()
    }
    with write.open("wb") as file:
        for made, _ in results.values():
            file.writelines(orjson.dumps(each) + b"\n" for each in made)
    told = {name: each for name, (_, each) in results.items()}
    counting.draw({name: {**each, "made": told[name]} for name, each in drawn.items()}, things)
    return shown(told, coverage_tables.generated)
