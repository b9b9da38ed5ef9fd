"""Options that several commands share, and the configuration that they make."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import click

from evenflow.pipelines.terminal.lines import visible
from evenflow.transforms.storage.storage import Storage, StorageError, at

if TYPE_CHECKING:
    from evenflow.schemas.config import Config

# What help calls a value, and says of a parameter whose command does not
COMMON = {
    "as_json": ("", "Print JSON."),
    "quiet": ("", "No progress."),
    "allow_empty": ("", "Accept an input without a document."),
    "directory": ("DIR", "Output of a run, as --output named it."),
    "directories": ("DIR", "Outputs of runs, as --output named them."),
    "inputs": ("INPUT", "Paths, folders or globs."),
    "pane": ("N..M", "Only these panes: N..M, N.. or N."),
    "name": ("NAME|PATH", "A shipped list's name, or a list's path."),
    "reason": ("TEXT", "The reason; the ledger keeps it."),
    "by": ("NAME", "Who decides.  [default: the user of this process]"),
    "corpus": ("PATH", "Texts: a path, folder or glob; repeatable."),
    "runner": ("NAME", "in-process (default), flink, or an option of Beam; repeatable."),
    "host": ("ADDRESS", "Address to listen on."),
    "port": ("N", "Port to listen on; 0 takes a free one."),
    "seed": ("N", "Seed of what is drawn."),
}
# Keys with an option in `run` and `stream`, and options of both that their help only names
GATE = ("gate.warn", "gate.block", "repair.mode", "stereotypes.action", "metrics.port")
RARE = "standby log-format metrics-port"


class Shown(NamedTuple):
    """What a command has found: it is drawn, or with --json printed as JSON."""

    result: Any
    draw: Callable[[Any], object]
    status: int = 0


def storage(address: str) -> Storage:
    """Read the address of an output."""
    try:
        return at(address)
    except StorageError as error:
        raise click.BadParameter(str(error)) from error


def write(path: Path, content: bytes) -> None:
    """Write a file in one step."""
    at(path.parent).write(path.name, content)


def check(directory: Storage) -> None:
    """Refuse an output without a ledger."""
    from evenflow.gates.ledger.files import has_ledger
    from evenflow.schemas.config import ConfigError

    if not has_ledger(directory):
        raise ConfigError(f"{directory}: no ledger here; give the --output directory of a run")


def panes(given: str) -> slice:
    """Read a range of panes."""
    found = re.fullmatch(r"(\d+)(\.\.(\d*))?", given)
    if found is None:
        raise click.BadParameter(f"{given!r}: a pane was expected, as 7, 7.. or 7..12")
    last = int(found[3]) if found[3] else int(found[1])
    return slice(int(found[1]), None if found[2] == ".." else last + 1)


Output = Annotated[Storage, storage]
Panes = Annotated[slice, panes]
Count = Annotated[int, click.IntRange(1)]
Natural = Annotated[int, click.IntRange(0)]
Port = Annotated[int, click.IntRange(0, 65535)]
Seconds = Annotated[float, click.FloatRange(0.1)]


def note(text: str) -> None:
    """Say something on standard error."""
    print(f"evenflow: {visible(text)}", file=sys.stderr)


def sizes_of(inputs: Sequence[str], config: Config) -> dict[str, int]:
    """Find the input's files, and name on standard error what is left out.

    Returns the size as stored, in bytes, by the file's name.
    """
    from evenflow.transforms.io import files

    return files.match(inputs, config.strict_input, note)


@dataclass(frozen=True, kw_only=True)
class Values:
    """Values of the configuration.

    Attributes:
        sets (KEY=VALUE): Any key, such as gate.warn=0.2; repeatable.
    """

    sets: Sequence[str] = ()
    # By dotted key the name of an option that is a key, and its value: text, or True of a flag
    keys: Mapping[str, tuple[str, Any]] = field(default_factory=dict[str, tuple[str, Any]])

    def configuration(self, more: Mapping[str, object] | None = None) -> Config:
        """Make the configuration that a command works under.

        `more`: Further values by dotted key; None is none.
        """
        from evenflow.schemas.config import load, value

        own = {
            key: value(key, given, name) if isinstance(given, str) else given
            for key, (name, given) in self.keys.items()
        }
        more = {key: each for key, each in (more or {}).items() if each is not None}
        return load(
            getattr(self, "config", None),
            {**own, **more},
            getattr(self, "attribute", ()),
            getattr(self, "wordlist", ()),
            {key: name for key, (name, _) in self.keys.items()},
            self.sets,
        )


@dataclass(frozen=True, kw_only=True)
class Settings(Values):
    """The configuration.

    Attributes:
        config (FILE): YAML file, see `evenflow doctor --print config`.
    """

    config: Path | None = None


@dataclass(frozen=True, kw_only=True)
class Selection(Settings):
    """What is measured.

    Attributes:
        wordlist (PATH): Also your own list (YAML: {attribute: NAME, groups: {GROUP: [WORD, …]}});
            repeatable.
        attribute (NAME): Measure only this attribute; repeatable.
    """

    wordlist: Sequence[str] = ()
    attribute: Sequence[str] = ()


@dataclass(frozen=True, kw_only=True)
class ResultOptions:
    """Where a gate's results go, and what it prints meanwhile and at the end.

    Attributes:
        output (DIR): A folder, s3://…, gs://… or az://….
        workers (N): Processes that annotate.
        runner (NAME): in-process (default), flink, or an option of Beam; repeatable.
        standby: Wait while another run writes to the output, then take over.
        log_format: Progress on standard error.
        quiet: Print nothing but errors and warnings.
        as_json: Print a summary as JSON.
    """

    output: Output
    workers: Count = 1
    runner: Sequence[str] = ()
    standby: bool = False
    log_format: Literal["text", "json"] = "text"
    quiet: bool = False
    as_json: bool = False

    @property
    def beam(self) -> list[str]:
        """The options of Beam; none in process. Raises BadParameter."""
        return runner_options(self.runner, self.workers)


JOB_SERVER = "localhost:8099"  # where Beam's own listen
SERVER_SECONDS = 60  # that a job server may take to answer; a busy one takes some


def runner_options(names: Sequence[str], workers: int = 1) -> list[str]:
    """Translate --runner to options of Beam."""
    if names in ([], ["in-process"]):
        return []
    if workers > 1:
        text = "a runner has workers of its own; give --workers without --runner"
        raise wrong("--workers", text)
    if names == ["flink"]:
        where = [f"--job_endpoint={JOB_SERVER}", f"--job_server_timeout={SERVER_SECONDS}"]
        return ["--runner=PortableRunner", *where, "--environment_type=LOOPBACK"]
    if not all(name.startswith("--") for name in names):
        raise wrong("--runner", "flink, in-process, or Beam's own options (--runner=…)")
    return list(names)


def wrong(option: str, text: str) -> click.BadParameter:
    """The error of an option whose value cannot be used."""
    return click.BadParameter(text, param_hint=f"'{option}'")
