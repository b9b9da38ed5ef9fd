"""`evenflow llm estimate`: what asking an LLM would cost, before it is asked."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.terminal.endings import Session, logs, show

if TYPE_CHECKING:
    pass

SAMPLE = 2000  # documents; they take a few seconds
# Prompts and answers together: a 7B on one GPU of 24 GB, with many questions under way
TOKENS_A_SECOND = 2000.0


@command(
    "evenflow llm estimate corpus/",
    "evenflow llm estimate 'corpus/*.jsonl.gz' --tokens-per-second 4000 --json",
    options=("fields.text",),
)
def estimate(
    context: typer.Context,
    inputs: options.InputsArgument,
    *,
    selection: options.Selection,
    sample: Annotated[int, option("N", "Documents to read.", min=2)] = SAMPLE,
    tokens_per_second: Annotated[
        float,
        option(
            "T",
            "Speed of the server under load; `evenflow llm check` measures one question.",
            min=1,
        ),
    ] = TOKENS_A_SECOND,
    as_json: options.JsonOption = False,
) -> None:
    """Estimate from a sample what an LLM would be asked, in tokens and hours.

    The estimate is given step by step: in the modes cascade and llm, and as configured. Nothing is
    asked. Every step is counted, also steps that are not configured. A sentence that occurs twice
    is counted twice, although the cache answers the second one. If an LLM finds more than the small
    models do, a run asks more than this.
    """
    logs(context.obj or Session())
    from evenflow.pipelines.terminal import estimates
    from evenflow.transforms.annotation.sample import sample_blocks
    from evenflow.transforms.repair import estimate as inference_estimate

    settings = selection.configuration()
    found = options.sizes_of(inputs)
    sampler = inference_estimate.Sampler(settings)
    seen = inference_estimate.Sample()
    for block, stored in sample_blocks(found, sample):
        sampler.add(seen, block, stored)
    sampler.draw(seen)
    result = inference_estimate.result(
        seen, inference_estimate.configured_modes(settings), sum(found.values()), tokens_per_second
    )
    show(result, as_json, estimates.draw)
