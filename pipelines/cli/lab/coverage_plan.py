"""`evenflow coverage plan`: additions that would fill the gaps."""

from __future__ import annotations

from typing import Annotated

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.cli.coverage_options import COUNTED, PLAN, Counting, print_parts


@command(
    "evenflow coverage plan people.csv --attributes sex,race --tau 2%",
    "evenflow coverage plan a.csv --attributes a,b --tau 9 --balance a:b=adaptive",
    "evenflow coverage plan b/ --attributes gender,age --tau 9 --exchange gender",
    options=COUNTED,
)
def plan(
    inputs: options.InputsArgument,
    *,
    counting: Counting,
    worst: Annotated[
        int | None, option("N", "Fill only the largest gaps.  [default: all]", panel=PLAN, min=1)
    ] = None,
    cost: Annotated[
        list[str] | None,
        option(
            "KIND=C",
            "Cost of a record: synthetic, augmented, substituted, reweighted; repeatable.",
            panel=PLAN,
        ),
    ] = None,
    limit: Annotated[
        list[str] | None, option("KIND=N", "Most records of a kind; repeatable.", panel=PLAN)
    ] = None,
    exchange: Annotated[
        str,
        option(
            "A,B,…",
            "Attributes that can be exchanged in a record; such changes are then planned too.",
            panel=PLAN,
        ),
    ] = "",
    balance: Annotated[
        list[str] | None,
        option(
            "A:B=E",
            "Shares of A's groups within E of even ones in each value of B; repeatable."
            " E may be adaptive: bounds by the present share.",
            panel=PLAN,
        ),
    ] = None,
    rates: Annotated[
        str,
        option("A1,A2,B1,B2", "Rates of adaptive balances.  [default: 1.5,0.9,2,1.1]", panel=PLAN),
    ] = "",
    as_json: options.JsonOption = False,
) -> None:
    """Plan the fewest additions that fill the gaps, and say them in words.

    What is exchanged or copied costs half of what is generated, unless --cost says otherwise.
    """
    from evenflow.pipelines.terminal import coverage_tables
    from evenflow.transforms.lab.coverage.planned import Wishes, planned
    from evenflow.transforms.lab.generation.items import needs_of

    records = counting.records(inputs)
    things, needs = records.things, needs_of(records.config, records.of_text)
    wishes = Wishes.parse(cost or (), limit or (), exchange, balance or (), worst, rates)
    parts = {
        name: planned(each, counting.depth, wishes, things, needs)
        for name, each in records.parts().items()
    }
    print_parts(parts, as_json, lambda: coverage_tables.plans(parts, things))
