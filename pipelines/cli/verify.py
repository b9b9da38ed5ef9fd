"""`evenflow gate verify`: whether an output is as its ledger says, and what it no longer needs."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any, Literal

from evenflow.pipelines.cli import options
from evenflow.pipelines.terminal.lines import counted, visible
from evenflow.schemas.errors import FAILED

if TYPE_CHECKING:
    from evenflow.gates.ledger.output_files import Compared
    from evenflow.transforms.storage.storage import Storage

Kind = Literal["staged", "quarantine", "checks"]
SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
BYTES = {"B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


def gate_verify(
    directory: options.Output,
    *,
    rebuild: bool = False,
    files: bool = False,
    prune: str | None = None,
    what: Sequence[Kind] = (),
    delete: bool = False,
) -> options.Shown:
    """Add up a ledger again, and compare the sums with its checkpoint.

    It takes about 3 ms for each pane. With --files, size and SHA-256 of every file are compared
    with the ledger too. What is missing, has changed, or is not in the ledger is named.

    With --prune the ledger stays whole, and so do all documents that count as accepted. What goes
    of quarantine is noted in ledger/pruned/, and such a pane cannot be accepted any more. A gate
    may run meanwhile; then its folder staged/ is left as it is.

    Exit status: 0 all agrees, 1 something does not agree, or an entry is missing or cannot be read.

    Args:
        rebuild: Rebuild the checkpoint from the segments.
        files: Read every file, and compare it with the ledger.
        prune (LIMIT): Find old quarantine, results of checks and leftovers: older than 30d, or the
            oldest beyond 20GiB of each kind.
        what: Of these alone; repeatable.  [default: all]
        delete: Delete them.

    Examples:
        evenflow gate verify out
        evenflow gate verify s3://bucket/out --files --json
        evenflow gate verify out --prune 30d
        evenflow gate verify out --prune 20GiB --what quarantine --delete
    """
    if prune is not None:
        return options.Shown(_pruned(directory, prune, what, delete), _draw_pruned)
    if what or delete:
        raise options.wrong("--prune", "say what goes, by age or by size")
    from evenflow.gates.ledger import history, output_files, segments
    from evenflow.gates.ledger.files import read_meta
    from evenflow.schemas.config import recorded

    if rebuild:
        history.rebuild(directory, recorded(read_meta(directory)))
    panes, off = history.recount(directory)
    compared = output_files.compare(directory, history.History(directory)) if files else None
    result: dict[str, Any] = {
        "panes": panes,
        "checkpoint": segments.checkpoint_panes(directory),
        "wrong": off,
    } | ({} if compared is None else {"files": asdict(compared)})

    def draw(_: object) -> None:
        print(f"{counted(panes, 'pane')}, every entry is there and can be read")
        otherwise = f"the checkpoint says otherwise: {', '.join(off)}"
        print(otherwise if off else "the checkpoint agrees with a recount")
        if compared is not None:
            _print_compared(compared)

    wrong = off or (compared and not compared.is_sound)
    return options.Shown(result, draw, FAILED if wrong else 0)


def _print_compared(compared: Compared) -> None:
    """Print what a comparison of the files with the ledger has found."""
    for what, names in (
        ("missing", compared.missing),
        ("changed", compared.changed),
        ("not in the ledger", compared.unknown),
        ("of the next pane; the next start finishes or removes it", compared.next),
    ):
        for name in names:
            print(f"{what}: {visible(name)}")
    count = f"{compared.files:,} files with {compared.bytes:,} bytes"
    if compared.pruned:
        print(f"pruned: {counted(compared.pruned, 'file')}, as ledger/pruned/ says")
    whole = f"{count} are as the ledger says, and there is no other"
    off = f"{len(compared.missing):,} missing, {len(compared.changed):,} changed"
    other = f"the ledger names {count}: {off}; {len(compared.unknown):,} not in the ledger"
    print(whole if compared.is_sound else other)


def _pruned(directory: Storage, limit: str, what: Sequence[Kind], delete: bool) -> dict[str, Any]:
    """Find what is older than an age, or beyond a size, and delete it if so asked."""
    from evenflow.gates.ledger import pruned
    from evenflow.gates.ledger.history import History
    from evenflow.gates.ledger.reviews import signed

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
        gone, note = pruned.prune(directory, history, gone, signed(None)["who"])
    files, sizes = Counter(each.kind for each in gone), Counter[str]()
    for each in gone:
        sizes[each.kind] += each.file.bytes
    kinds = {kind: {"files": files[kind], "bytes": sizes[kind]} for kind in sorted(files)}
    return {"deleted": delete, "kinds": kinds, "note": note}


def _draw_pruned(result: dict[str, Any]) -> None:
    """Print what was deleted, or would be."""
    for kind, each in result["kinds"].items():
        print(f"{kind}: {counted(each['files'], 'file')}, {each['bytes']:,} bytes")
    if result["note"]:
        print(visible(result["note"]))
    if not result["kinds"]:
        print("nothing to delete")
    elif not result["deleted"]:
        print("nothing was deleted; --delete does it")
