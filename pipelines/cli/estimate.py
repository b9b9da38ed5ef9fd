"""`evenflow llm estimate`: what asking an LLM would cost, before it is asked."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import Session, logs, printing

if TYPE_CHECKING:
    from evenflow.transforms.repair.estimate import Sample

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
    sample: Annotated[int, typer.Option(metavar="N", min=2, help="Documents to read.")] = SAMPLE,
    tokens_per_second: Annotated[
        float,
        typer.Option(
            metavar="T",
            min=1,
            help="Speed of the server under load; `evenflow llm check` measures one question.",
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
    from evenflow.transforms.annotation.sample import sample_blocks
    from evenflow.transforms.repair import estimate as inference_estimate

    settings = selection.configuration()
    found = options.sizes_of(inputs)
    sampler = inference_estimate.Sampler(settings)
    seen = inference_estimate.Sample()
    for block, stored in sample_blocks(found, sample):
        sampler.add(seen, block, stored)
    sampler.draw(seen)
    result = _estimated(
        seen, inference_estimate.configured_modes(settings), sum(found.values()), tokens_per_second
    )
    with printing():
        print(json.dumps(result, indent=1) + "\n" if as_json else _estimate_lines(result), end="")


def _estimated(
    seen: Sample, own: dict[str, str], size: int, tokens_per_second: float
) -> dict[str, Any]:
    """The estimate as JSON-able data, by mode and prompt, for an input of `size` bytes."""
    from evenflow.transforms.repair.estimate import STEPS

    def total(modes: dict[str, str]) -> dict[str, Any]:
        return seen.total(modes, size).as_json(tokens_per_second)

    modes: dict[str, Any] = {}
    for mode in ("embedded", "cascade", "llm"):
        every = dict.fromkeys(STEPS, mode)
        modes[mode] = {
            "prompts": {prompt: total({prompt: mode}) for prompt in STEPS},
            "all": total(every),
        }
    return {
        "input_bytes": size,
        "sampled_documents": seen.documents,
        "sampled_share": round(min(1.0, sum(seen.weights) / size), 6) if size else 0.0,
        "tokens_a_second": tokens_per_second,
        "steps": STEPS,
        "modes": modes,
        "configured": {"prompts": own, "all": total(own)},
    }


def _estimate_lines(result: Any) -> str:
    """The estimate as lines of text."""
    size = f"{result['sampled_share']:.2%} of {result['input_bytes'] / 1e6:,.1f} MB"
    speed = f"{result['tokens_a_second']:,.0f} tokens a second"
    lines = [f"{result['sampled_documents']:,} documents looked at, {size}; hours at {speed}"]
    lines.append(f"{'':<28}{'questions':>24}{'tokens':>18}{'hours':>12}")
    for mode, meant in (("cascade", "what the small models are unsure of"), ("llm", "everything")):
        lines.append(f"{mode}: {meant}")
        found = result["modes"][mode]
        for prompt, each in found["prompts"].items():
            step = result["steps"][prompt]
            lines.append(_estimate_line(prompt if prompt == step else f"{step}: {prompt}", each))
        lines.append(_estimate_line("in all", found["all"]))
    lines.append("embedded: nothing")
    own = result["configured"]
    asked = ", ".join(
        f"{prompt} {mode}" for prompt, mode in own["prompts"].items() if mode != "embedded"
    )
    lines.append(f"as configured: {asked or 'nothing, neither stereotypes nor repair are on'}")
    lines.append(_estimate_line("in all", own["all"]))
    return "\n".join(lines) + "\n"


def _estimate_line(name: str, each: Any) -> str:
    """A row: questions with their margin, tokens and hours."""
    within = "" if each["within"] is None else f" ± {each['within']:,}"
    count = f"{each['questions']:,}{within}"
    return f"  {name:<26}{count:>24}{each['tokens']:>18,}{each['hours']:>12,.2f}"
