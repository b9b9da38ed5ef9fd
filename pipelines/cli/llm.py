"""`evenflow llm check` and `evenflow estimate`: what an LLM answers, and what asking it would cost,
before it is asked.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.endings import FAILED, Session, logs, printing
from evenflow.pipelines.terminal.lines import visible

if TYPE_CHECKING:
    from evenflow.transforms.annotation.estimate import Sample
    from evenflow.transforms.llm.client.settings import Key, ServerSettings

CHECK_EXAMPLES = options.examples(
    "evenflow llm check --llm http://127.0.0.1:8000 --llm-model mistralai/Mistral-7B-Instruct-v0.3",
    "evenflow llm check --llm https://llm.example.org/v1 --llm-model large --llm-key-env LLM_KEY"
    " --json",
    "evenflow llm check --llm-serve models/mistral-7b",
)
ESTIMATE_EXAMPLES = options.examples(
    "evenflow estimate corpus/",
    "evenflow estimate 'corpus/*.jsonl.gz' --attribute gender --tokens-per-second 4000 --json",
)
SAMPLE = 2000  # documents: read and looked through in some seconds
# Prompts and answers together: a 7B on one GPU of 24 GB, with many questions under way
TOKENS_A_SECOND = 2000.0

LlmOption = Annotated[
    str | None, typer.Option("--llm", metavar="URL", help="Address of an OpenAI-compatible server.")
]
ModelOption = Annotated[
    str | None, typer.Option("--llm-model", metavar="NAME", help="The model's name at that server.")
]
KeyEnvOption = Annotated[
    str | None,
    typer.Option(
        "--llm-key-env", metavar="NAME", help="Environment variable with the server's key."
    ),
]
KeyFileOption = Annotated[
    Path | None, typer.Option("--llm-key-file", metavar="FILE", help="File with the server's key.")
]
ServeOption = Annotated[
    str | None,
    typer.Option(
        "--llm-serve",
        metavar="DIR|NAME",
        help="Start vLLM with this model, and stop it at the end.",
    ),
]

ArgumentOption = Annotated[
    list[str] | None,
    typer.Option(
        "--llm-argument",
        metavar="ARG",
        help="For vLLM, with --llm-serve: --llm-argument=--enforce-eager; repeatable.",
    ),
]


def llm_check(
    context: typer.Context,
    llm: LlmOption = None,
    llm_model: ModelOption = None,
    llm_key_env: KeyEnvOption = None,
    llm_key_file: KeyFileOption = None,
    llm_serve: ServeOption = None,
    llm_argument: ArgumentOption = None,
    as_json: options.JsonOption = False,
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

    said: list[str] = []
    key = key_of(llm_key_env, llm_key_file)
    with settings_of(llm, llm_model, key, llm_serve, llm_argument or ()) as settings:
        server = describe(settings)
        with Client(settings, say=said.append) as client:
            checks = check.check(client, loader.names())
    result = check.as_json(server, settings.model, checks, said)
    with printing():
        if as_json:
            print(json.dumps(result, indent=1))
        else:
            _print_check(settings, result)
    raise typer.Exit(0 if all(each.is_sound for each in checks) else FAILED)


def estimate(
    context: typer.Context,
    inputs: Annotated[list[str], typer.Argument(metavar="INPUT", help="Paths, folders or globs.")],
    config: options.ConfigOption = None,
    text_field: options.TextFieldOption = None,
    attribute: options.AttributeOption = None,
    wordlist: options.WordlistOption = None,
    sample: Annotated[int, typer.Option(metavar="N", min=2, help="Documents to look at.")] = SAMPLE,
    tokens_per_second: Annotated[
        float,
        typer.Option(
            metavar="T",
            min=1,
            help="Of the server, under load; `evenflow llm check` says it for one question.",
        ),
    ] = TOKENS_A_SECOND,
    as_json: options.JsonOption = False,
) -> None:
    """Say from a sample what an LLM would be asked, step by step, in tokens and hours: in the modes
    cascade and llm, and as configured.

    Nothing is asked. Every step is counted, those too that are not configured. A sentence that
    comes twice is counted twice, although the cache answers the second one; and an LLM that finds
    more than the small models do is asked more.
    """
    logs(context.obj or Session())
    from evenflow.schemas.config import load
    from evenflow.transforms.annotation import estimate as inference_estimate
    from evenflow.transforms.annotation.sample import sample_blocks
    from evenflow.transforms.io import files

    settings = load(config, options.given(fields__text=text_field), attribute or (), wordlist or ())
    found = files.match(inputs)
    sampler = inference_estimate.Sampler(settings)
    seen = inference_estimate.Sample()
    for block, stored in sample_blocks(found, sample):
        sampler.add(seen, block, stored)
    result = _estimated(
        seen, inference_estimate.configured_modes(settings), sum(found.values()), tokens_per_second
    )
    with printing():
        print(json.dumps(result, indent=1) + "\n" if as_json else _estimate_lines(result), end="")


def _estimated(
    seen: Sample, own: dict[str, str], size: int, tokens_per_second: float
) -> dict[str, Any]:
    from evenflow.transforms.annotation.estimate import STEPS

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


def key_of(env: str | None, file: Path | None) -> Key | None:
    """Where the key is, from the two options; None for no key. Raises BadParameter for both."""
    from evenflow.transforms.llm.client.settings import Key

    if env is not None and file is not None:
        raise typer.BadParameter(
            "give one of --llm-key-env and --llm-key-file", param_hint="'--llm-key-env'"
        )
    if env is not None:
        return Key("env", env)
    return None if file is None else Key("file", str(file))


@contextmanager
def settings_of(
    llm: str | None,
    model: str | None,
    key: Key | None,
    serve: str | None,
    arguments: Sequence[str] = (),
) -> Iterator[ServerSettings]:
    """How the LLM is reached, within the block: at an address, or served by this command, with more
    arguments of vLLM.

    Raises BadParameter for options that do not go together, InferenceError where vLLM does not come
    up.
    """
    from evenflow.transforms.llm.client import serving
    from evenflow.transforms.llm.client.settings import ServerSettings

    if (llm is None) == (serve is None):
        said = (
            "--llm and --llm-serve exclude each other"
            if llm is not None
            else "give --llm or --llm-serve"
        )
        raise typer.BadParameter(said, param_hint="'--llm'")
    if serve is not None and not serve.strip():
        raise typer.BadParameter(
            "a folder or a model's name was expected", param_hint="'--llm-serve'"
        )
    if llm is not None:
        if arguments:
            raise typer.BadParameter(
                "--llm-argument goes with --llm-serve", param_hint="'--llm-argument'"
            )
        if model is None:
            raise typer.BadParameter(
                "--llm needs --llm-model, the model's name at the server",
                param_hint="'--llm-model'",
            )
        with _as_usage():
            settings = ServerSettings(llm, model, key)
        yield settings
        return
    if serve is None or model is not None or key is not None:
        raise typer.BadParameter(
            "--llm-serve goes without --llm-model and a key", param_hint="'--llm-serve'"
        )
    with serving.serve(serve, _say, arguments) as served:
        # A server that ended is started again, which takes as long as the first time.
        wait = serving.RESTART_SECONDS
        yield ServerSettings(served.url, served.model, served.key, deadline=wait, patience=wait)


@contextmanager
def _as_usage() -> Iterator[None]:
    """Settings that cannot be are wrong usage of --llm. Raises BadParameter."""
    from evenflow.transforms.llm.client.settings import ServerSettingsError

    try:
        yield
    except ServerSettingsError as error:
        raise typer.BadParameter(str(error), param_hint="'--llm'") from error


@contextmanager
def configured(
    llm: str | None,
    model: str | None,
    key: Key | None,
    serve: str | None,
    arguments: Sequence[str] = (),
) -> Iterator[dict[str, object]]:
    """The options as overrides of the configuration, within the block; none were given: no
    override.

    Raises BadParameter, and InferenceError for a server that cannot be used as it is described.
    """
    if llm is None and serve is None:
        if model is not None or key is not None or arguments:
            said = "--llm-model, --llm-argument and a key need --llm or --llm-serve"
            raise typer.BadParameter(said, param_hint="'--llm'")
        yield {}
        return
    with settings_of(llm, model, key, serve, arguments) as settings:
        where = None if settings.key is None else {settings.key.kind: settings.key.place}
        yield {
            "llm.url": settings.url,
            "llm.model": settings.model,
            "llm.key": where,
            "llm.deadline": settings.deadline,
        }


def _say(line: str) -> None:
    for each in line.splitlines():
        typer.echo(f"evenflow: {visible(each)}", err=True)


def _print_check(settings: ServerSettings, result: Any) -> None:
    print(
        visible(
            f"{settings.url}: model {result['model']}, version {result['version'] or 'not said'}"
        )
    )
    for each in result["prompts"]:
        state = "sound" if each["sound"] else each["reason"]
        print(
            visible(
                f"  {each['prompt']:<14} {each['seconds']:7.2f} s {each['tokens']:6} tokens "
                f" {state}"
            )
        )
    for line in result["said"]:
        print(visible(f"  {line}"))
    if result["tokens_a_second"] is not None:
        print(f"{result['tokens_a_second']:,.0f} tokens a second, asked one by one")


def _estimate_lines(result: Any) -> str:
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
    within = "" if each["within"] is None else f" ± {each['within']:,}"
    count = f"{each['questions']:,}{within}"
    return f"  {name:<26}{count:>24}{each['tokens']:>18,}{each['hours']:>12,.2f}"
