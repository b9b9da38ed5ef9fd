"""`evenflow coverage plan` and `generate`: records that would fill the gaps."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

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


CHECKS = "Checks"


@command(
    "evenflow coverage plan c/ --attributes gender --tau 30 --json > p.json",
    "evenflow coverage generate c/ --attributes gender --tau 30"
    " \\\n      --plan p.json --out a.jsonl",
    options=COUNTED,
)
def generate(
    inputs: options.InputsArgument,
    *,
    counting: Counting,
    llm: options.LlmOptions,
    plan_file: Annotated[
        Path, option("FILE", "What `evenflow coverage plan --json` wrote.", "--plan")
    ],
    out: Annotated[Path, option("FILE", "JSON lines of the new records.")],
    tries: Annotated[
        float | None,
        option(
            "X",
            "Most candidates for each record.  [default: 5 of a language model, else 100]",
            panel=PLAN,
            min=1,
        ),
    ] = None,
    seed: Annotated[int, option("N", "Draws the order.", panel=PLAN)] = 0,
    impossible: Annotated[
        list[str] | None,
        option(
            "A=B,WORD",
            "Values and words that cannot be together, such as gender=male,pregnant; repeatable.",
            panel=CHECKS,
        ),
    ] = None,
    perplexity_model: Annotated[
        str | None,
        option(
            "DIR",
            "Causal model; a text's perplexity must be within 95 % of the input's sentences.",
            panel=CHECKS,
        ),
    ] = None,
    as_json: options.JsonOption = False,
) -> None:
    """Write the records of a plan, and check each of them.

    Without a language model, sentences of the input get other names and labels. What a language
    model writes is always checked for fluency, stereotypes and support; the command ends
    where a check cannot be made.
    """
    from evenflow.pipelines.cli.llm import configured
    from evenflow.pipelines.engine.files.coverage import Records
    from evenflow.pipelines.terminal import coverage_tables
    from evenflow.transforms.lab.generation import writing
    from evenflow.transforms.lab.generation.support import Impossible

    try:
        plans = json.loads(plan_file.read_bytes())
    except (OSError, ValueError) as error:
        raise typer.BadParameter(f"{plan_file}: {error}", param_hint="'--plan'") from error
    with configured(llm) as given:
        config = counting.settings(given)
        by, known = config.coverage.by, Records(inputs, config).known
        barred = [Impossible.parse(each) for each in impossible or ()]
        parts = plans if by is not None else {None: plans}
        session = writing.Session(
            inputs, config, config.coverage.named(), known, seed, perplexity_model, barred
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
