"""`evenflow gate verify --prune`: what an output no longer needs."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from typing import Any, Literal

from evenflow.gates.ledger import pruned
from evenflow.gates.ledger.history import History
from evenflow.gates.ledger.reviews import signed
from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.lines import counted, visible
from evenflow.transforms.storage.storage import Storage

Kind = Literal["staged", "quarantine", "checks"]
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def prune(directory: Storage, limit: str, what: Sequence[Kind], delete: bool) -> dict[str, Any]:
    """Find what is older than an age, or beyond a size, and delete it if so asked."""
    found = re.fullmatch(r"(\d+)([A-Za-z]+)", limit)
    if found is None or found[2] not in SECONDS | BYTES:
        raise options.wrong("--prune", f"{limit!r}: an age (12h, 30d) or a size (20GiB) is needed")
    number, unit = int(found[1]), found[2]
    before = time.time_ns() - number * SECONDS[unit] * 10**9 if unit in SECONDS else None
    history = History(directory)
    old = pruned.candidates(directory, history, what or pruned.KINDS)
    gone = pruned.chosen(old, before, number * BYTES[unit] if unit in BYTES else None)
    note = None
    if delete:
        who = signed(None)["who"]
        rest = [each for each in gone if each.kind != "staged"]
        staged = [each for each in gone if each.kind == "staged"]
        done = pruned.prune(directory, history, rest, who)
        swept, note = pruned.sweep(directory, history, staged, who)
        gone = done + swept
    files, sizes = Counter(each.kind for each in gone), Counter[str]()
    for each in gone:
        sizes[each.kind] += each.file.bytes
    kinds = {kind: {"files": files[kind], "bytes": sizes[kind]} for kind in sorted(files)}
    return {"deleted": delete, "kinds": kinds, "note": note}


def draw(result: dict[str, Any]) -> None:
    """Print what was deleted, or would be."""
    for kind, each in result["kinds"].items():
        print(f"{kind}: {counted(each['files'], 'file')}, {each['bytes']:,} bytes")
    if result["note"]:
        print(visible(result["note"]))
    if not result["kinds"]:
        print("nothing to delete")
    elif not result["deleted"]:
        print("nothing was deleted; --delete does it")
