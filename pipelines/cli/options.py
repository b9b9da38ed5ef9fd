"""Options that several commands share, each declared once, and the configuration they make."""

from __future__ import annotations

import re
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import typer

from evenflow.pipelines.cli.commands import argument, flag, option
from evenflow.pipelines.cli.keys import DATA, RESULT, Keys
from evenflow.pipelines.terminal.lines import visible
from evenflow.transforms.storage.storage import Storage, StorageError, at

LLM = "Language model"
# Options of `run` and `stream` that their help only names
RARE = (
    "--text-field --id-field --count --pane-mib --rolling --policy --strictness --llm --llm-model"
    " --llm-key-env --llm-key-file --llm-serve --llm-argument --standby --metrics-port"
    " --log-format"
)
# Keys with an option in `run` and `stream`
GATE = (
    *("fields.text", "fields.id", "measure.count", "pane.mib", "pane.rolling", "gate.warn"),
    *("gate.block", "gate.policy", "repair.mode", "repair.strictness", "stereotypes.policy"),
    "metrics.port",
)


def storage(address: str) -> Storage:
    """Read the address of an output.

    Args:
        address: A local directory, or an address with a scheme.

    Returns:
        The output.

    Raises:
        typer.BadParameter: It is no address of a store.
    """
    try:
        return at(address)
    except StorageError as error:
        raise typer.BadParameter(str(error)) from error


def sizes_of(inputs: list[str]) -> dict[str, int]:
    """Find the input's files, and name on standard error what is left out.

    Args:
        inputs: Paths, folders or globs.

    Returns:
        The size as stored, in bytes, by the file's name.

    Raises:
        InputError: An input names no file, or a file cannot be opened.
    """
    from evenflow.transforms.io import files

    def note(output: str) -> None:
        print(f"evenflow: {visible(files.left_out(output))}", file=sys.stderr)

    return files.match(inputs, note)


def panes(given: str | None) -> slice | None:
    """Read a range of panes.

    Args:
        given: N..M (both are meant), N.. or N; None for no range.

    Returns:
        The panes; None for all.

    Raises:
        typer.BadParameter: It is no range.
    """
    if given is None:
        return None
    found = re.fullmatch(r"(\d+)(\.\.(\d*))?", given)
    if found is None:
        raise typer.BadParameter(
            f"{given!r}: a pane was expected, as 7, 7.. or 7..12", param_hint="'--pane'"
        )
    first = int(found[1])
    last = int(found[3]) if found[3] else first
    return slice(first, None if found[2] == ".." else last + 1)


PaneOption = Annotated[str | None, option("N..M", "Only these panes: N..M, N.. or N.", "--pane")]
QuietOption = Annotated[bool, flag("No progress.", "--quiet", "-q")]
JsonOption = Annotated[bool, flag("Print JSON.", "--json")]
WorkersOption = Annotated[int, option("N", "Processes that read and annotate.", min=1)]
AllowEmptyOption = Annotated[bool, flag("Accept an input without a document.", "--allow-empty")]
DirArgument = Annotated[
    Storage, argument("DIR", "Output of a run, as --output named it.", parser=storage)
]
InputsArgument = Annotated[list[str], argument("INPUT", "Paths, folders or globs.")]
WordlistOption = Annotated[
    list[str] | None,
    option("PATH", "Your own word list, measured too; repeatable.", "--wordlist", "-w", panel=DATA),
]
SetOption = Annotated[
    list[str] | None,
    option(
        "KEY=VALUE",
        "Any key of the configuration, such as gate.warn=0.2; repeatable.",
        "--set",
        panel=DATA,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Settings(Keys):
    """The configuration.

    Attributes:
        config: A YAML file; None for the defaults.
        sets: Values of keys, as KEY=VALUE; they win over the file and over other options.
    """

    config: Annotated[
        Path | None,
        option("FILE", "YAML file, see `evenflow config show`.", "--config", "-c", panel=DATA),
    ] = None
    sets: SetOption = None


@dataclass(frozen=True, kw_only=True)
class Lists(Settings):
    """The configuration and the user's word lists.

    Attributes:
        wordlist: Paths of the user's own word lists; None for none.
    """

    wordlist: WordlistOption = None


@dataclass(frozen=True, kw_only=True)
class Selection(Lists):
    """What is measured.

    Attributes:
        attribute: Names of the attributes; None for all.
    """

    attribute: Annotated[
        list[str] | None,
        option("NAME", "Measure only this attribute; repeatable.", "--attribute", "-a", panel=DATA),
    ] = None


@dataclass(frozen=True, kw_only=True)
class LlmOptions:
    """How a language model is reached: at an address, or started by this command.

    Attributes:
        llm: Address of a server.
        llm_model: The model's name at that server.
        llm_key_env: Environment variable that holds the server's key.
        llm_key_file: File that holds the server's key.
        llm_serve: Folder or name of a model that vLLM is started with.
        llm_argument: Further arguments of vLLM.
    """

    llm: Annotated[str | None, option("URL", "An OpenAI-compatible server.", panel=LLM)] = None
    llm_model: Annotated[
        str | None, option("NAME", "Name of the model at the server.", panel=LLM)
    ] = None
    llm_key_env: Annotated[
        str | None, option("NAME", "Environment variable with the server's key.", panel=LLM)
    ] = None
    llm_key_file: Annotated[
        Path | None, option("FILE", "File with the server's key.", panel=LLM)
    ] = None
    llm_serve: Annotated[
        str | None, option("DIR|NAME", "Start vLLM with this model for the run.", panel=LLM)
    ] = None
    llm_argument: Annotated[
        list[str] | None, option("ARG", "vLLM option: --llm-argument=--x; repeatable.", panel=LLM)
    ] = None


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """Where a gate's results go, and what it prints meanwhile and at the end.

    Attributes:
        output: The storage of shards, ledger, checks and report.
        standby: Whether to wait while another run writes to the output.
        log_format: Form of the progress: text or json.
        quiet: Whether nothing but errors is printed.
        as_json: Whether a summary is printed as JSON at the end.
    """

    output: Annotated[
        Storage,
        option(
            "DIR",
            "Where the results go: a directory, or s3://…, gs://…, az://….",
            "--output",
            "-o",
            panel=RESULT,
            parser=storage,
        ),
    ]
    standby: Annotated[
        bool, flag("Wait while another run writes to the output, then take over.", panel=RESULT)
    ] = False
    log_format: Annotated[
        str, option("FORM", "Progress on stderr: text or json.", panel=RESULT)
    ] = "text"
    quiet: Annotated[bool, flag("Print nothing but errors.", "--quiet", "-q", panel=RESULT)] = False
    as_json: Annotated[bool, flag("Print a summary as JSON.", "--json", panel=RESULT)] = False
