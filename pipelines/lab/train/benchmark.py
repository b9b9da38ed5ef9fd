"""Runs benchmarks on a model, so that a kill loses one batch at most.

What an output holds:

    results.json          by suite: figure, interval, n, what is better, range, source; parts
    items/SUITE.jsonl     a line for each item: suite, id, kind, cluster, values, perhaps texts
    items/SUITE/          while the suite is under way: its settings, and the lines of each batch

Items are sorted by length and cut into batches once, so a batch has the same items after a restart
and gives the same values, to the last digit: sums of a batch depend on what is padded with what.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenflow.gates.ledger.files import canonical
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.transforms.lab.benchmarks.data import Data
from evenflow.transforms.lab.benchmarks.estimate import difference, estimate
from evenflow.transforms.lab.benchmarks.suite import HEADLINE, Item, Suite
from evenflow.transforms.lab.benchmarks.suites import SUITES
from evenflow.transforms.models.loading import LanguageModelError
from evenflow.transforms.storage.storage import Place, Storage, at

if TYPE_CHECKING:
    from evenflow.transforms.lab.benchmarks.asking import Models

RESULTS, ITEMS, SETTINGS = "results.json", "items", "settings.json"
BATCH = 16
VERSION = 3  # of what items are asked and how values are computed
KIND = re.compile(r"[\w-]+")  # a kind names a file


@dataclass(frozen=True)
class SuiteProgress:
    """How far a suite is."""

    suite: str
    done: int
    new: int
    first: int
    total: int


def benchmark(
    model: str | Models,
    output: Place,
    suites: Sequence[str],
    *,
    adapter: str | None = None,
    data: Path | None = None,
    items: int | None = None,
    seed: int = 0,
    batch: int = BATCH,
    on_batch: Callable[[SuiteProgress], None] = lambda _: None,
) -> dict[str, Any]:
    """Run benchmarks, or go on with them.

    A finished suite is not run again. Other suites may be added to an output, with the same model.
    """
    storage = at(output)
    chosen = {name: items_of(name, Data(data), items) for name in dict.fromkeys(suites)}
    if isinstance(model, str):
        from evenflow.transforms.lab.benchmarks import asking

        asked = asking.Models(model, adapter)
    else:
        asked = model
    facts = {"model": asked.name, "adapter": adapter, "seed": seed}
    found: dict[str, Any] = {**facts, "suites": {}}
    if storage.exists(RESULTS):
        found["suites"] = json.loads(storage.read(RESULTS))["suites"]
    kinds = {name: asked.kind(suite) for name, (suite, _) in chosen.items()}
    digest = asked.digest()
    for name, (suite, own) in chosen.items():
        settings = {
            "version": VERSION,
            "model": digest,
            "asked_as": kinds[name],
            "items": _digest_of(own),
            "seed": seed,
            "batch": batch,
        }
        before = found["suites"].get(name)
        if before is not None:
            _same(before["settings"], settings, storage, name)
        else:
            rows = _answered(storage, name, suite, own, settings, asked, on_batch)
            figures = results(rows, suite, seed)
            found["suites"][name] = {**figures, **suite.ABOUT.describe(), "settings": settings}
            storage.write(RESULTS, canonical(found))
        storage.remove_tree(f"{ITEMS}/{name}")
    return json.loads(canonical(found))  # as it is read again, so after a restart too


def results(rows: Sequence[Mapping[str, Any]], suite: Suite, seed: int = 0) -> dict[str, Any]:
    """The figures of a suite from its lines."""
    measures = suite.measures(_kinds(row["kind"] for row in rows))
    more = getattr(suite, "more", lambda rows: {})(rows)
    figures = {each.name: estimate(rows, each, seed) | more.get(each.name, {}) for each in measures}
    own = figures.pop(HEADLINE, None) or next(iter(figures.values()))
    parts = {name: each for name, each in figures.items() if each["n"]}
    notes = sorted({row["note"] for row in rows if row.get("note")})
    left_out = sum(row["values"] is None for row in rows)
    return {**own, "parts": parts, "left_out": left_out, "note": "; ".join(notes)}


def paired(
    a: Path | Sequence[Mapping[str, Any]],
    b: Path | Sequence[Mapping[str, Any]],
    part: str = HEADLINE,
    seed: int = 0,
) -> dict[str, Any]:
    """The difference of a figure between two models on the same items, a less b.

    `b`: The second model's.

    Returns difference, low, high (95 %), n (items of both) and units.
    """
    one, other = (_lines(each) for each in (a, b))
    names = {str(row["suite"]) for row in (*one, *other)}
    if len(names) != 1:
        raise TrainInputError(f"items of one suite were expected, not of {sorted(names)}")
    suite = SUITES[names.pop()]
    every = suite.measures(_kinds(row["kind"] for row in one))
    wanted = [each for each in every if each.name == part] or ([] if part else every)
    if not wanted:
        raise TrainInputError(f"{suite.ABOUT.name} has no part {part!r}")
    return difference(other, one, wanted[0], seed)


def _answered(
    storage: Storage,
    name: str,
    suite: Suite,
    items: Sequence[Item],
    settings: Mapping[str, Any],
    asked: Models,
    on_batch: Callable[[SuiteProgress], None],
) -> list[dict[str, Any]]:
    """Ask the model about what is left of a suite, and write the lines of all items."""
    folder, batch = storage.below(f"{ITEMS}/{name}"), settings["batch"]
    if not folder.create(SETTINGS, canonical(dict(settings))):
        _same(json.loads(folder.read(SETTINGS)), settings, storage, name)
    # The longest first: what does not fit into the memory fails at once
    order = sorted(items, key=lambda item: (-item.size(), item.id))
    starts = range(0, len(order), batch)
    files = {f"{at:06d}.jsonl": order[start : start + batch] for at, start in enumerate(starts)}
    there = set(folder.names(""))
    done = new = first = 0
    for file, chosen in files.items():
        if file not in there:
            answered = _ask(suite, asked.ready(suite), chosen, settings["seed"])
            folder.write(file, b"".join(canonical_line(row) for row in answered))
            new += len(chosen)
            first = first or new
        done += len(chosen)
        if file not in there or done == len(order):
            on_batch(SuiteProgress(name, done, new, first, len(order)))
    found = {row["id"]: row for file in files for row in _parsed(folder.read(file))}
    rows = getattr(suite, "finish", list)([found[item.id] for item in items])
    storage.write(f"{ITEMS}/{name}.jsonl", b"".join(canonical_line(row) for row in rows))
    return rows


def _ask(suite: Suite, model: Any, items: Sequence[Item], seed: int) -> list[dict[str, Any]]:
    """The lines of a batch; an item that cannot be asked has none of the values."""
    prepared: list[Any] = []
    reasons: dict[str, str] = {}
    for item in items:
        try:
            prepared.append(suite.prepare(model, item, seed))
        except LanguageModelError as error:
            reasons[item.id] = str(error)
    answers = iter(suite.ask(model, prepared) if prepared else ())
    rows: list[dict[str, Any]] = []
    for item in items:
        out = item.id in reasons
        own = {"values": None, "left_out": reasons[item.id]} if out else next(answers)
        fixed = {"suite": suite.ABOUT.name, "id": item.id}
        rows.append({**fixed, "kind": item.kind, "cluster": item.cluster, **own})
    return rows


def canonical_line(row: Mapping[str, Any]) -> bytes:
    """A line of items/SUITE.jsonl."""
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")).encode("utf-8") + b"\n"


def items_of(name: str, data: Data, most: int | None) -> tuple[Suite, list[Item]]:
    """Find a suite and its items."""
    base, _, kind = name.partition(":")
    suite = SUITES.get(base)
    if suite is None:
        raise TrainInputError(f"{base!r} is no suite; there are {', '.join(SUITES)}")
    items = suite.read(data)
    if kind or ":" in name:
        kinds = [each for each in _kinds(item.kind for item in items) if KIND.fullmatch(each)]
        if not any(f"{each}-".startswith(f"{kind}-") for each in kinds) or not kind:
            raise TrainInputError(
                f"{name!r}: {base} has no items of that kind; it has {', '.join(kinds) or 'none'}"
            )
        items = [item for item in items if f"{item.kind}-".startswith(f"{kind}-")]
    if most is not None and most < len(items):
        kept = sorted(items, key=lambda item: hashlib.sha256(item.id.encode()).digest())[:most]
        ids = {item.id for item in kept}
        items = [item for item in items if item.id in ids]
    return suite, items


def _kinds(kinds: Iterable[str]) -> list[str]:
    """The kinds in the order in which they first come, without the empty one."""
    return [kind for kind in dict.fromkeys(kinds) if kind]


def _digest_of(items: Sequence[Item]) -> str:
    """What changes with the items."""
    whole = hashlib.sha256()
    for item in items:
        whole.update(f"{item.id}\0{item.kind}\0{item.content}\n".encode())
    return whole.hexdigest()


def _same(before: Mapping[str, Any], now: Mapping[str, Any], storage: Storage, name: str) -> None:
    """Refuse other settings than those of an output. Raises TrainInputError."""
    for key, value in now.items():
        if before.get(key) != value:
            raise TrainInputError(
                f"{storage}: {name} was run there with other settings ({key}); give another"
                " --output"
            )


def _lines(given: Path | Sequence[Mapping[str, Any]]) -> Sequence[Mapping[str, Any]]:
    return _parsed(given.read_bytes()) if isinstance(given, Path) else given


def _parsed(data: bytes) -> list[dict[str, Any]]:
    return [json.loads(line) for line in data.splitlines()]
