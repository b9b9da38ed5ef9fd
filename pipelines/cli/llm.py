"""`evenflow llm`: a check of a language model, its cost, and the server that options describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import click
from click.exceptions import Exit

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import Session, logs, show
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.errors import FAILED

if TYPE_CHECKING:
    from evenflow.schemas.config import Config
    from evenflow.transforms.llm.client.settings import ServerSettings


@command(
    "evenflow llm check --url http://127.0.0.1:8000 --model mistral-7b",
    "evenflow llm check --url https://x.org --model m --set llm.key.env=KEY",
    keys=("llm.url", "llm.model"),
    section="llm",
)
def llm_check(*, values: options.Settings, session: Session, as_json: bool = False) -> None:
    """Ask an LLM one question of each prompt, and check its answers.

    Prints latency, tokens a second and the server's version. Exit status: 0 all answers are sound,
    1 some are not.
    """
    logs(session)
    from evenflow.prompts import loader
    from evenflow.transforms.llm.client import check
    from evenflow.transforms.llm.client.client import Client
    from evenflow.transforms.llm.client.server import describe

    remarks: list[str] = []
    settings = server_settings(values.configuration())
    server = describe(settings)
    with Client(settings, say=remarks.append) as client:
        checks = check.check(client, loader.names())
    result = check.as_json(server, settings.model, checks, remarks)
    show(result, as_json, lambda result: _print_check(settings, result))
    raise Exit(0 if all(each.is_sound for each in checks) else FAILED)


def server_settings(config: Config) -> ServerSettings:
    """How the language model is reached that a command asks for. Raises BadParameter."""
    from evenflow.transforms.llm.worker import settings

    if config.llm.url is None:
        raise options.wrong("--set", "an address was expected: --set llm.url=URL")
    return settings(config)


def _print_check(settings: ServerSettings, result: Any) -> None:
    """Print the result of a check as lines of text."""
    version = result["version"] or "not said"
    print(visible(f"{settings.shown}: model {result['model']}, version {version}"))
    for each in result["prompts"]:
        state = "sound" if each["sound"] else each["reason"]
        figures = f"{each['seconds']:7.2f} s {each['tokens']:6} tokens"
        print(visible(f"  {each['prompt']:<14} {figures}  {state}"))
    for line in result["said"]:
        print(visible(f"  {line}"))
    if result["tokens_a_second"] is not None:
        print(f"{result['tokens_a_second']:,.0f} tokens a second, asked one by one")


# Prompts and answers together: a 7B on one GPU of 24 GB, with many questions under way
TOKENS_A_SECOND = 2000.0


@command(
    "evenflow llm estimate corpus/",
    "evenflow llm estimate 'corpus/*.jsonl.gz' --tokens-per-second 4000 --json",
)
def llm_estimate(
    inputs: list[str],
    *,
    values: options.Settings,
    sample: Annotated[int, click.IntRange(2)] = 2000,
    tokens_per_second: Annotated[float, click.FloatRange(1)] = TOKENS_A_SECOND,
    session: Session,
    as_json: bool = False,
) -> None:
    """Estimate from a sample what an LLM would be asked.

    The estimate, in tokens and hours, is given step by step: in the modes cascade and llm, and as
    configured. Nothing is asked. Every step is counted, also steps that are not configured. A
    sentence that occurs twice is counted twice, although the cache answers the second one. If an
    LLM finds more than the small models do, a run asks more than this.

    Args:
        sample: Documents to read; they take a few seconds.
        tokens_per_second: Speed of the server under load; `evenflow llm check` measures one
            question.
    """
    logs(session)
    from evenflow.pipelines.terminal import estimates
    from evenflow.transforms.annotation.sample import sample_blocks
    from evenflow.transforms.repair import estimate as inference_estimate

    settings = values.configuration()
    found = options.sizes_of(inputs, settings)
    sampler = inference_estimate.Sampler(settings)
    seen = inference_estimate.Sample()
    for block, stored in sample_blocks(found, sample):
        sampler.add(seen, block, stored)
    sampler.draw(seen)
    result = inference_estimate.result(
        seen, inference_estimate.configured_modes(settings), sum(found.values()), tokens_per_second
    )
    show(result, as_json, estimates.draw)
