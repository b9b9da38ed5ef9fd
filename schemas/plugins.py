"""Plug-ins: parts that other packages bring, each of a kind that `METHODS` lists.

Nothing is loaded that nobody names: the configuration names a finder, the names of the files that
are asked for name a reader, and an export names a sink.

A package declares its parts in its metadata, each in the group of its kind:

    [project.entry-points."evenflow.attributes"]
    titled = "evenflow_titled:TitledPeople"

A part may also be named by its place, MODULE:NAME. What stands there is called without arguments,
and the part is what that returns.
"""

from __future__ import annotations

import hashlib
import sys
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from evenflow.schemas.errors import EvenflowError, UsageError
from evenflow.schemas.ledger import PaneEntry

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

ATTRIBUTES = "evenflow.attributes"  # finders of mentions (schemas.plugin_finder)
READERS = "evenflow.readers"  # of files whose names end with .NAME (transforms.io.formats)
MEASURES = "evenflow.measures"  # measures of panes (transforms.measures.measure)
JUDGES = "evenflow.judges"  # of exchanges (transforms.substitution.plugin_judge)
DETECTORS = "evenflow.detectors"  # of stereotypes (transforms.measures.stereotypes.detect)
SINKS = "evenflow.sinks"  # tables that accepted panes are appended to (pipelines.accepted.sinks)
METHODS = {  # what a part of each kind must have
    ATTRIBUTES: "find(text)",
    READERS: "read(file)",
    MEASURES: "judge(config, lists, counted, totals)",
    JUDGES: "judge(text, exchanges)",
    DETECTORS: "detect(sentences, words)",
    SINKS: "open(place, output, columns)",
}
OWN = __name__.split(".")[0]  # the package of the parts that ship
DIGITS = 16  # hexadecimal digits of a digest
MADE_WITH = "made_with"  # of a part: what else decides what it does, such as a model's version


class PluginError(UsageError):
    """A plug-in is missing, cannot be loaded, or is no part of its kind; the message names it."""


class PluginTextError(PluginError):
    """A plug-in failed on a text or a file; the message names it, and has nothing of the text."""


@dataclass(frozen=True)
class Plugin:
    """A part that was loaded.

    Attributes:
        made_with: Package and version, a digest of the package's files, and what the part says of
            itself (its attribute `made_with`).
    """

    name: str
    part: Any
    made_with: str

    def __str__(self) -> str:
        """Its name, as messages show it."""
        return f"plug-in {self.name!r}"

    @contextmanager
    def guarded(self) -> Generator[None]:
        """Turn what the part raises into a PluginTextError.

        Errors of the system stay, and a package that is missing: the command says what to install.
        """
        try:
            yield
        except (EvenflowError, MemoryError, ModuleNotFoundError):
            raise
        except Exception as error:  # whatever the code of others raises
            if isinstance(error, OSError) and error.errno is not None:
                raise
            raise PluginTextError(f"{self} failed: {type(error).__name__}") from error

    def chances(self, count: int, ask: Callable[[], Sequence[Any]]) -> list[float | None]:
        """Ask the part for probabilities.

        Returns:
            The probabilities, 0 to 1; None: the part cannot say.

        Raises:
            PluginTextError: The part raised an error, or gave something else.
        """
        with self.guarded():
            found = [None if each is None else float(each) for each in ask()]
        if len(found) != count or not all(each is None or 0 <= each <= 1 for each in found):
            raise PluginTextError(f"{self}: {count} probabilities were expected, 0 to 1 or None")
        return found


@cache
def declared(kind: str) -> dict[str, list[EntryPoint]]:
    """The plug-ins of a kind that installed packages declare, by name."""
    from importlib.metadata import entry_points  # it loads a parser of mails

    found: dict[str, list[EntryPoint]] = {}
    for each in sorted(entry_points(group=kind), key=lambda each: (each.name, each.value)):
        found.setdefault(each.name, []).append(each)
    return found


@cache
def load(kind: str, name: str) -> Plugin:
    """Load a plug-in.

    Args:
        kind: Its group of entry points.
        name: Its name there, or its place (MODULE:NAME).

    Raises:
        PluginError: It is not there, is there twice, or cannot be loaded.
    """
    from importlib.metadata import EntryPoint

    known = declared(kind).get(name, [])
    if len(known) > 1:
        places = ", ".join(f"{_package(each)} ({each.value})" for each in known)
        raise PluginError(f"plug-in {name!r}: declared by {places}; name one by its place")
    if not known and ":" not in name:
        there = ", ".join(declared(kind)) or "none"
        raise PluginError(
            f"plug-in {name!r}: no installed package declares it among {kind} (there are: {there});"
            " install its package, or name it by its place, MODULE:NAME"
        )
    entry = known[0] if known else EntryPoint(name, name, kind)
    try:
        target = entry.load()
        part = target() if callable(target) else target
        own = str(getattr(part, MADE_WITH, ""))
        made_with = (_package(entry), _digest(sys.modules[entry.module]), own)
    except Exception as error:  # whatever the code of others raises
        raise PluginError(
            f"plug-in {name!r}: {entry.value} cannot be loaded: {type(error).__name__}: {error}"
        ) from error
    plugin = Plugin(name, part, " ".join(filter(None, made_with)))
    if not callable(getattr(part, METHODS[kind].partition("(")[0], None)):
        raise PluginError(f"{plugin}: a method {METHODS[kind]} was expected")
    return plugin


def listed(uses: Mapping[str, Callable[[str], object]]) -> list[dict[str, str]]:
    """The plug-ins that other installed packages declare; each is loaded.

    Args:
        uses: What loads a plug-in by its name, of groups whose parts need more than a method.

    Returns:
        Of each its kind, name, package, place and the problem with it (empty without one).
    """
    rows: list[dict[str, str]] = []
    for kind in METHODS:
        for entry in (each for same in declared(kind).values() for each in same):
            if entry.module.split(".")[0] == OWN:
                continue
            problem = ""
            try:
                uses.get(kind, partial(load, kind))(entry.name)
            except PluginError as error:
                problem = str(error)
            row = {"kind": kind, "name": entry.name, "package": _package(entry)}
            rows.append(row | {"place": entry.value, "problem": problem})
    return rows


def _package(entry: EntryPoint) -> str:
    """Name and version of the package that declares a plug-in; empty where none does."""
    return f"{entry.dist.name} {entry.dist.version}" if entry.dist else ""


def _digest(module: ModuleType) -> str:
    """A digest of all files of a module's package, or of the module alone."""
    parts = module.__name__.split(".")
    # Of a part that ships its own folder: all of Evenflow has a digest beside
    least = len(parts) if parts[0] == OWN else 1
    above = (sys.modules.get(".".join(parts[:size])) for size in range(least, len(parts) + 1))
    root = next(each for each in above if each is not None and getattr(each, "__file__", None))
    file = Path(str(root.__file__))
    folder = file.parent
    inner = sorted(folder.rglob("*")) if hasattr(root, "__path__") else [file]
    whole = hashlib.sha256()
    for path in inner:
        if path.is_file() and "__pycache__" not in path.parts:
            whole.update(path.relative_to(folder).as_posix().encode() + b"\0")
            whole.update(hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:DIGITS]


def measure(name: str) -> Plugin:
    """A measure of panes that an installed package declares.

    Returns:
        The plug-in; the part is a transforms.measures.measure.Measure.

    Raises:
        PluginError: The plug-in cannot be used.
    """
    if name not in declared(MEASURES):
        there = ", ".join(declared(MEASURES)) or "none"
        raise PluginError(f"no installed package declares the measure {name!r}; there are: {there}")
    plugin = load(MEASURES, name)
    if getattr(plugin.part, "name", None) != name or not name.isidentifier():
        raise PluginError(f"{plugin}: name: {name!r} was expected, in letters, digits and _")
    if name in PaneEntry.model_fields:
        raise PluginError(f"{plugin}: the ledger has another key of this name")
    loaded_measures()[name] = plugin
    return plugin


@cache
def loaded_measures() -> dict[str, Plugin]:
    """The measures that `measure` has loaded in this process, by name.

    They alone read figures in a ledger, for a ledger's names load nothing.
    """
    return {}
