"""Decides whether a run may go on with a ledger, and in which epoch.

The input and the recorded settings must be the same, except for the thresholds of a run on a topic.
Otherwise the run is refused. Another program (version, code, models, lists or prompts) opens a new
epoch. On a topic, other thresholds open one too. A setting that one of the two programs does not
know counts as its default.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

from evenflow.gates.ledger import files as ledger
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas import plugins
from evenflow.schemas.config import Config
from evenflow.schemas.config.attributes import AttributeSettings
from evenflow.schemas.errors import USAGE, EvenflowError
from evenflow.schemas.ledger import Epoch
from evenflow.schemas.renamed import renamed
from evenflow.transforms.io import files, formats
from evenflow.transforms.measures import registry
from evenflow.transforms.storage.storage import Place, at
from evenflow.wordlists.loader import NAMED, WordList

DIGITS = 16  # hexadecimal digits of a digest in the ledger: 64 bits distinguish programs
# Rooms whose code determines figures
ROOMS = (
    "gates",
    "transforms",
    "schemas",
    "wordlists",
    "prompts",
    "pipelines.engine",
)
# Thresholds of the gate's states; they do not change what is read or written
_LIMITS = "|".join(
    rf"{name}\.({'|'.join(each.limits)})"
    for name, each in registry.measures().items()
    if each.limits
)
THRESHOLD = re.compile(
    r"(configuration\.)?reference(\.file)?: "
    r"|configuration\.(gate\.[\w.]+|attributes\.[^.]+\.(warn|block)|llm\.(most_)?fallbacks"
    rf"|{_LIMITS}|measures\.\w+\.(warn|block)): "
)


# Defaults of the gate before there were references: a run begun with them goes on with those of now
OLD_GATE = {"scope": "pane", "warn": 0.25, "block": 0.45}


class RunError(EvenflowError, RuntimeError):
    """The run cannot go on; the message says what to do."""

    status = USAGE


def program(config: Config, lists: Iterable[WordList], names: Iterable[str] = ()) -> dict[str, str]:
    """Describe the program that makes the panes."""
    rooms = [Path(next(iter(import_module(f"evenflow.{room}").__path__))) for room in ROOMS]
    code = [path for room in rooms for path in sorted(room.rglob("*.py"))]
    models = [
        path
        for suffix in ("onnx", "npz", "json", "tsv", "txt")
        for path in sorted(rooms[1].rglob(f"*.{suffix}"))
    ]
    found = {"version": version("evenflow"), "code": _digest(code), "models": _digest(models)}
    lists = list(lists)
    finders = [(each.name, each.made_with) for words in lists if (each := words.finder)]
    readers = {(each.end[1:], each.made_with) for each in map(formats.of, names)}
    found |= {f"plug-in {name}": made for name, made in (*finders, *sorted(readers)) if made}
    found["lists"] = _short(repr(sorted(list_digests(lists).items())).encode())
    if config.llm.url is not None and config.has_sentence_table:
        found["prompts"] = _digest(
            sorted(path for path in rooms[4].iterdir() if path.suffix in (".yaml", ".json"))
        )
    found |= {f"plug-in {name}": plugins.measure(name).made_with for name in config.measures}
    for kind, (_, name) in config.plugin_parts.items():
        found[f"plug-in {name} of {kind}"] = plugins.load(kind, name).made_with
    made = {name: each.program(config) for name, each in registry.of(config).items()}
    return found | {name: _short(each.encode()) for name, each in made.items() if each is not None}


def list_digests(lists: Iterable[WordList]) -> dict[str, str]:
    """Compute a digest of each word list, by attribute."""
    return {
        words.attribute: (
            hashlib.sha256(
                repr(
                    (
                        words.groups,
                        sorted(words.labels.items()),
                        *(each for each in (words.target, words.population) if each),
                        *(each for each in (getattr(words.finder, "particles", ()),) if each),
                    )
                ).encode()
            ).hexdigest()
        )
        for words in lists
    }


def _digest(paths: Iterable[Path]) -> str:
    """A short digest of the names and bytes of files."""
    whole = hashlib.sha256()
    for path in paths:
        whole.update(path.name.encode() + b"\0" + hashlib.sha256(path.read_bytes()).digest())
    return whole.hexdigest()[:DIGITS]


def _short(data: bytes) -> str:
    """A short digest of data."""
    return hashlib.sha256(data).hexdigest()[:DIGITS]


def continued(
    output: Place,
    known: Mapping[str, Any],
    record: Mapping[str, Any],
    now: Mapping[str, str],
    lists: Sequence[WordList],
    totals: Totals,
) -> Epoch:
    """Find the epoch in which a run goes on: the last one, or a new one with its changes."""
    before = [Epoch.model_validate(each) for each in known.get("epochs") or [{}]]
    try:
        then, mine = _comparable(known["settings"], record)
    except (AttributeError, KeyError, TypeError) as error:
        raise ledger.LedgerError(
            f"{at(output).address(ledger.META)}: not the settings of a run"
        ) from error
    changed = ledger.changed_settings(then, mine)
    allowed = [line for line in changed if "stream" in record and THRESHOLD.match(line)]
    for words in lists:
        seen = totals.attributes.get(words.attribute)
        if seen is not None and seen.last.groups != list(words.groups):
            changed.append(
                f"groups of {words.attribute}: {seen.last.groups} -> {list(words.groups)}"
            )
    if refused := [line for line in changed if line not in allowed]:
        lines = "\n  ".join(refused)
        raise RunError(
            f"{output} was begun with other settings:\n  {lines}\ngo on with those, or give another"
            " --output"
        )
    last = before[-1]
    changes = (
        [*allowed, *ledger.changed_settings(last.program, dict(now))]
        if last.program != now
        else allowed
    )
    if not changes:
        return last
    return Epoch(number=last.number + 1, pane=totals.panes, program=dict(now), changes=changes)


def _comparable(
    then: Mapping[str, Any], now: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Settings of a ledger and of this run, in a form that can be compared.

    Digests of what a program ships with are left out. An unknown setting has its default.
    """
    mine = now["configuration"]
    own = {
        name
        for name, each in mine["attributes"].items()
        if each["wordlist"] and each["wordlist"] not in NAMED
    }
    old, new = dict(then), dict(now)
    for each in (old, new):
        each.pop("prompts", None)
        each["wordlists"] = {
            name: digest for name, digest in each.get("wordlists", {}).items() if name in own
        }
    if "input" in old:  # it may grow; earlier versions noted paths as they were given
        before = {files.absolute(name): size for name, size in old["input"].items()}
        old["input"] = before
        new["input"] = {name: before[name] for name in new.get("input", ()) if name in before}
    theirs = _filled(renamed(old["configuration"]), mine, Config().model_dump())
    defaults = AttributeSettings().model_dump()
    both = theirs["attributes"].keys() & mine["attributes"].keys()
    shared = {
        name: _filled(theirs["attributes"][name], mine["attributes"][name], defaults)
        for name in both
    }
    old["configuration"] = theirs | {"attributes": theirs["attributes"] | shared}
    if "reference" not in then["configuration"]:
        gate, own_gate = theirs["gate"], mine["gate"]
        were = {key: own_gate[key] for key, value in OLD_GATE.items() if gate[key] == value}
        old["configuration"]["gate"] = gate | were
    return old, new


def _filled(
    theirs: Mapping[str, Any], mine: Mapping[str, Any], defaults: Mapping[str, Any]
) -> dict[str, Any]:
    """The ledger's settings with the keys of this program, and defaults for missing ones."""
    out = {}
    for key, value in mine.items():
        default = defaults.get(key)
        if isinstance(value, dict) and isinstance(default, dict) and key != "attributes":
            out[key] = _filled(theirs.get(key) or {}, value, default)
        else:
            then = theirs.get(key, default)
            # repair.mode was one step before it could be several
            out[key] = [then] if isinstance(value, list) and isinstance(then, str) else then
    return out
