"""`evenflow llm`: a check of a language model, its cost, and the server that options describe."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command, option
from evenflow.pipelines.terminal.endings import Session, logs, show
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.errors import FAILED

if TYPE_CHECKING:
    from evenflow.transforms.llm.client.settings import Key, ServerSettings


@command(
    "evenflow llm check --llm http://127.0.0.1:8000 --llm-model mistral-7b",
    "evenflow llm check --llm https://x.org --llm-model m --llm-key-env KEY",
    "evenflow llm check --llm-serve models/mistral-7b",
)
def llm_check(
    context: typer.Context, *, llm: options.LlmOptions, as_json: options.JsonOption = False
) -> None:
    """Ask an LLM one question of each prompt, and check its answers.

    Prints latency, tokens a second and the server's version. Exit status: 0 all answers are sound,
    1 some are not.
    """
    logs(context.obj or Session())
    from evenflow.prompts import loader
    from evenflow.transforms.llm.client import check
    from evenflow.transforms.llm.client.client import Client
    from evenflow.transforms.llm.client.server import describe

    remarks: list[str] = []
    with server_settings(llm) as settings:
        server = describe(settings)
        with Client(settings, say=remarks.append) as client:
            checks = check.check(client, loader.names())
    result = check.as_json(server, settings.model, checks, remarks)
    show(result, as_json, lambda result: _print_check(settings, result))
    raise typer.Exit(0 if all(each.is_sound for each in checks) else FAILED)


@contextmanager
def server_settings(llm: options.LlmOptions) -> Iterator[ServerSettings]:
    """Find out how a language model is reached; one that is to be served runs within the block.

    Args:
        llm: The options; an address or a model to serve is among them.

    Yields:
        The server's address, model and key, and how long it is waited for.

    Raises:
        typer.BadParameter: Options are missing or do not go together.
        InferenceError: vLLM did not start.
    """
    from evenflow.transforms.llm.client import serving
    from evenflow.transforms.llm.client.settings import ServerSettings, ServerSettingsError

    key = _key(llm.llm_key_env, llm.llm_key_file)
    if llm.llm is not None:
        if llm.llm_serve is not None:
            _refuse("--llm and --llm-serve exclude each other", "--llm")
        if llm.llm_argument:
            _refuse("--llm-argument goes with --llm-serve", "--llm-argument")
        if llm.llm_model is None:
            _refuse("--llm needs --llm-model, the model's name at the server", "--llm-model")
        try:
            settings = ServerSettings(llm.llm, llm.llm_model, key)
        except ServerSettingsError as error:
            raise typer.BadParameter(str(error), param_hint="'--llm'") from error
        yield settings
        return
    serve = llm.llm_serve
    if serve is None:
        _refuse("give --llm or --llm-serve", "--llm")
    if not serve.strip():
        _refuse("a folder or a model's name was expected", "--llm-serve")
    if llm.llm_model is not None or key is not None:
        _refuse("--llm-serve goes without --llm-model and a key", "--llm-serve")
    with serving.serve(serve, _print_lines, llm.llm_argument or ()) as served:
        # A server that ended is started again, which takes as long as the first time.
        wait = serving.RESTART_SECONDS
        yield ServerSettings(served.url, served.model, served.key, deadline=wait, patience=wait)


@contextmanager
def configured(llm: options.LlmOptions) -> Iterator[dict[str, object]]:
    """Translate the options to the configuration, and serve a model within the block if asked to.

    Args:
        llm: The options.

    Yields:
        Values by dotted configuration key; nothing where no option was given.

    Raises:
        typer.BadParameter: Options do not go together.
        InferenceError: vLLM did not start.
    """
    if llm.llm is None and llm.llm_serve is None:
        others = (llm.llm_model, llm.llm_key_env, llm.llm_key_file, llm.llm_argument or None)
        if any(each is not None for each in others):
            _refuse("--llm-model, --llm-argument and a key need --llm or --llm-serve", "--llm")
        yield {}
        return
    with server_settings(llm) as settings:
        place = None if settings.key is None else {settings.key.kind: settings.key.place}
        yield {
            "llm.url": settings.url,
            "llm.model": settings.model,
            "llm.key": place,
            "llm.deadline": settings.deadline,
        }


def _key(variable: str | None, file: Path | None) -> Key | None:
    """Where the key is, from the two options for it; None for no key."""
    from evenflow.transforms.llm.client.settings import Key

    if variable is not None and file is not None:
        _refuse("give one of --llm-key-env and --llm-key-file", "--llm-key-env")
    if variable is not None:
        return Key("env", variable)
    return None if file is None else Key("file", str(file))


def _refuse(message: str, option: str) -> NoReturn:
    """Raise BadParameter about an option."""
    raise typer.BadParameter(message, param_hint=f"'{option}'")


def _print_lines(text: str) -> None:
    """Print what vLLM reports on standard error."""
    for each in text.splitlines():
        typer.echo(f"evenflow: {visible(each)}", err=True)


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
