"""Options that several commands share, each declared once, and the configuration they make."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenflow.pipelines.terminal.lines import visible
from evenflow.transforms.storage.storage import Storage, StorageError, at

if TYPE_CHECKING:
    from evenflow.schemas.config import Config

DATA, PANES, REPAIR = "Data", "Panes and verdicts", "Repair"
LLM, RESULT = "Language model", "Result"
# Options of `run` and `stream` that their help only names
RARE = frozenset(
    {
        "--text-field",
        "--id-field",
        "--count",
        "--pane-mib",
        "--rolling",
        "--policy",
        "--strictness",
        "--llm-key-env",
        "--llm-key-file",
        "--llm-serve",
        "--llm-argument",
        "--llm-model",
        "--llm",
        "--standby",
        "--metrics-port",
        "--log-format",
    }
)
# What a message about a key calls it where an option gave its value
OPTIONS = {
    "fields.text": "--text-field",
    "fields.id": "--id-field",
    "measure.count": "--count",
    "measure.epsilon": "--epsilon",
    "pane.docs": "--pane-docs",
    "pane.mib": "--pane-mib",
    "pane.rolling": "--rolling",
    "gate.warn": "--warn",
    "gate.block": "--block",
    "gate.policy": "--policy",
    "repair.mode": "--mode",
    "repair.strictness": "--strictness",
    "stereotypes.policy": "--stereotypes",
    "coverage.tau": "--tau",
    "coverage.attributes": "--attributes",
    "coverage.by": "--by",
    "coverage.unit": "--unit",
    "coverage.entities": "--entities",
    "metrics.port": "--metrics-port",
}


def _no_encoder(given: str | None) -> None:
    """Refuse an option of an earlier version, which no longer exists."""
    if given is not None:
        raise typer.BadParameter(
            "there is no encoder to choose any more: the shipped one always looks; leave this"
            " option out"
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


PaneOption = Annotated[
    str | None, typer.Option("--pane", metavar="N..M", help="Only these panes: N..M, N.. or N.")
]
EncoderOption = Annotated[
    str | None,
    typer.Option(hidden=True, callback=_no_encoder, help="There is none to choose any more."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print JSON.")]
WorkersOption = Annotated[
    int, typer.Option(min=1, metavar="N", help="Processes that read and annotate.")
]
AllowEmptyOption = Annotated[
    bool, typer.Option("--allow-empty", help="Accept an input without a document.")
]
DirArgument = Annotated[
    Storage,
    typer.Argument(metavar="DIR", parser=storage, help="Output of a run, as --output named it."),
]
InputsArgument = Annotated[
    list[str], typer.Argument(metavar="INPUT", help="Paths, folders or globs.")
]
TextFieldOption = Annotated[
    str | None,
    typer.Option(
        "--text-field",
        metavar="NAME",
        help="Field that holds the text.  [default: text]",
        rich_help_panel=DATA,
    ),
]
WordlistOption = Annotated[
    list[str] | None,
    typer.Option(
        "--wordlist",
        "-w",
        metavar="PATH",
        help="Your own word list, measured too; repeatable.",
        rich_help_panel=DATA,
    ),
]


CountOption = Annotated[
    str | None,
    typer.Option(
        "--count",
        metavar="WHAT",
        help="words, or people: mentions that name people of their group.  [default: words]",
        rich_help_panel=DATA,
    ),
]


SetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Any key of the configuration, such as gate.warn=0.2; repeatable.",
        rich_help_panel=DATA,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Lists:
    """The configuration and the user's word lists.

    Attributes:
        config: A YAML file; None for the defaults.
        sets: Values of keys, as KEY=VALUE; they win over the file and over other options.
        wordlist: Paths of the user's own word lists; None for none.
    """

    config: Annotated[
        Path | None,
        typer.Option(
            "--config",
            "-c",
            metavar="FILE",
            help="YAML file, see `evenflow config show`.",
            rich_help_panel=DATA,
        ),
    ] = None
    sets: SetOption = None
    wordlist: WordlistOption = None

    @property
    def chosen(self) -> list[str]:
        """Names of the attributes that are measured alone; none: all."""
        return []

    def configuration(self, overrides: Mapping[str, object] | None = None) -> Config:
        """Make the configuration that a command works under.

        Args:
            overrides: Values of options by dotted configuration key; None leaves a key as it is.

        Returns:
            The configuration file (or the defaults) under the overrides.

        Raises:
            ConfigError: The configuration cannot be used; every mistake is named.
            WordListError: A word list cannot be used.
        """
        from evenflow.schemas.config import load

        given = {key: value for key, value in (overrides or {}).items() if value is not None}
        return load(self.config, given, self.chosen, self.wordlist or (), OPTIONS, self.sets or ())


@dataclass(frozen=True, kw_only=True)
class Selection(Lists):
    """What is measured.

    Attributes:
        attribute: Names of the attributes; None for all.
    """

    attribute: Annotated[
        list[str] | None,
        typer.Option(
            "--attribute",
            "-a",
            metavar="NAME",
            help="Measure only this attribute; repeatable.",
            rich_help_panel=DATA,
        ),
    ] = None

    @property
    def chosen(self) -> list[str]:
        """Names of the attributes that are measured alone; none: all."""
        return self.attribute or []


@dataclass(frozen=True, kw_only=True)
class GateOptions(Selection):
    """What a gate reads, judges and repairs; the attributes are named after configuration keys."""

    text_field: TextFieldOption = None
    count: CountOption = None
    id_field: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Field that holds the id.  [default: id]", rich_help_panel=DATA
        ),
    ] = None
    pane_mib: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Most MiB of records in a pane.  [default: 64]",
            rich_help_panel=PANES,
        ),
    ] = None
    rolling: Annotated[
        int | None,
        typer.Option(
            min=1,
            metavar="N",
            help="Panes that a verdict looks back on.  [default: 4]",
            rich_help_panel=PANES,
        ),
    ] = None
    warn: Annotated[
        float | None,
        typer.Option(
            metavar="DR", help="Warn from this DR on.  [default: 0.25]", rich_help_panel=PANES
        ),
    ] = None
    block: Annotated[
        float | None,
        typer.Option(
            metavar="DR", help="Block from this DR on.  [default: 0.45]", rich_help_panel=PANES
        ),
    ] = None
    policy: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help="After a block: quarantine or halt.  [default: quarantine]",
            rich_help_panel=PANES,
        ),
    ] = None
    mode: Annotated[
        str | None,
        typer.Option(
            metavar="MODE",
            help="measure (default), substitute, augment, weight; or substitute,weight.",
            rich_help_panel=REPAIR,
        ),
    ] = None
    strictness: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            help="Least probability of an exchange.  [default: by precision]",
            rich_help_panel=REPAIR,
        ),
    ] = None
    stereotypes: Annotated[
        str | None,
        typer.Option(
            metavar="POLICY",
            help="off, flag, remove or quarantine.  [default: off]",
            rich_help_panel=REPAIR,
        ),
    ] = None
    encoder: EncoderOption = None

    def overrides(self) -> dict[str, object]:
        """The options as values of dotted configuration keys; None where one was not given."""
        return {
            "fields.text": self.text_field,
            "fields.id": self.id_field,
            "measure.count": self.count,
            "pane.mib": self.pane_mib,
            "pane.rolling": self.rolling,
            "gate.warn": self.warn,
            "gate.block": self.block,
            "gate.policy": self.policy,
            "repair.mode": self.mode,
            "repair.strictness": self.strictness,
            "stereotypes.policy": self.stereotypes,
        }


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

    llm: Annotated[
        str | None,
        typer.Option(metavar="URL", help="An OpenAI-compatible server.", rich_help_panel=LLM),
    ] = None
    llm_model: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Name of the model at the server.", rich_help_panel=LLM),
    ] = None
    llm_key_env: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Environment variable with the server's key.", rich_help_panel=LLM
        ),
    ] = None
    llm_key_file: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="File with the server's key.", rich_help_panel=LLM),
    ] = None
    llm_serve: Annotated[
        str | None,
        typer.Option(
            metavar="DIR|NAME", help="Start vLLM with this model for the run.", rich_help_panel=LLM
        ),
    ] = None
    llm_argument: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ARG", help="vLLM option: --llm-argument=--x; repeatable.", rich_help_panel=LLM
        ),
    ] = None


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """Where a gate's results go, and what it prints meanwhile and at the end.

    Attributes:
        output: The storage of shards, ledger, checks and report.
        standby: Whether to wait while another run writes to the output.
        metrics_port: Port that Prometheus reads metrics at; 0 for a free one, None for none.
        log_format: Form of the progress: text or json.
        quiet: Whether nothing but errors is printed.
        as_json: Whether a summary is printed as JSON at the end.
    """

    output: Annotated[
        Storage,
        typer.Option(
            "--output",
            "-o",
            metavar="DIR",
            parser=storage,
            help="Where the results go: a directory, or s3://…, gs://…, az://….",
            rich_help_panel=RESULT,
        ),
    ]
    standby: Annotated[
        bool,
        typer.Option(
            "--standby",
            help="Wait while another run writes to the output, then take over.",
            rich_help_panel=RESULT,
        ),
    ] = False
    metrics_port: Annotated[
        int | None,
        typer.Option(
            min=0,
            max=65535,
            metavar="N",
            help="Port for Prometheus; 0: a free one.",
            rich_help_panel=RESULT,
        ),
    ] = None
    log_format: Annotated[
        str,
        typer.Option(
            metavar="FORM", help="Progress on stderr: text or json.", rich_help_panel=RESULT
        ),
    ] = "text"
    quiet: Annotated[
        bool,
        typer.Option("--quiet", "-q", help="Print nothing but errors.", rich_help_panel=RESULT),
    ] = False
    as_json: Annotated[
        bool, typer.Option("--json", help="Print a summary as JSON.", rich_help_panel=RESULT)
    ] = False
