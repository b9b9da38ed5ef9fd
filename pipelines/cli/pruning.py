"""`evenflow gate prune` and `evenflow gate ledger`: what is left of a ledger's past."""

from __future__ import annotations

import re
import socket
import time
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from evenflow.pipelines.cli import options
from evenflow.pipelines.cli.commands import command
from evenflow.pipelines.terminal.endings import show
from evenflow.pipelines.terminal.lines import counted, visible

if TYPE_CHECKING:
    from evenflow.gates.ledger import pruned

SECONDS = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}
BYTES = {"": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30, "TiB": 1 << 40}


@command(
    "evenflow gate prune out --older-than 30d",
    "evenflow gate prune out --what quarantine --most 20GiB --delete",
)
def gate_prune(
    directory: options.Output,
    *,
    what: Sequence[Literal["staged", "quarantine", "checks"]] = (),
    older_than: str | None = None,
    most: str | None = None,
    delete: bool = False,
    as_json: bool = False,
) -> None:
    """Delete old quarantine, results of checks, and leftovers of runs.

    The ledger stays whole, and so do all documents that count as accepted. What goes of quarantine
    is noted in ledger/pruned/, and such a pane cannot be accepted any more. A gate may run
    meanwhile; then its folder staged/ is left as it is.

    Args:
        what: What goes; repeatable.  [default: all]
        older_than (AGE): What is older goes: 12h, 30d, 8w.
        most (SIZE): Of each kind the oldest go beyond this: 500MiB, 20GiB.
        delete: Delete, and not only say so.
    """
    from evenflow.gates.ledger import pruned
    from evenflow.gates.ledger.history import History
    from evenflow.gates.ledger.reviews import user

    if older_than is None and most is None:
        raise options.wrong("--older-than", "say what goes, by age or by size")
    age = _number(older_than, SECONDS, "--older-than", "an age, as 12h or 30d")
    before = None if age is None else time.time_ns() - age * 10**9
    size = _number(most, BYTES, "--most", "a size, as 500MiB or 20GiB")
    history = History(directory)
    found = pruned.candidates(directory, history, what or pruned.KINDS)
    gone = pruned.chosen(found, before, size)
    note = None
    if delete:
        staged = [each for each in gone if each.kind == "staged"]
        who = f"{user()} on {socket.gethostname()}"
        rest = [each for each in gone if each.kind != "staged"]
        done = pruned.prune(directory, history, rest, who)
        swept, note = pruned.sweep(directory, history, staged, who)
        gone = done + swept
    _say(gone, delete, note, as_json)


def _say(gone: Sequence[pruned.Old], delete: bool, note: str | None, as_json: bool) -> None:
    """Print what was deleted, or would be."""
    files = Counter(each.kind for each in gone)
    sizes = Counter[str]()
    for each in gone:
        sizes[each.kind] += each.file.bytes
    result = {
        "deleted": delete,
        "kinds": {kind: {"files": files[kind], "bytes": sizes[kind]} for kind in sorted(files)},
        "note": note,
    }

    def draw(_: object) -> None:
        for kind in sorted(files):
            print(f"{kind}: {counted(files[kind], 'file')}, {sizes[kind]:,} bytes")
        if note:
            print(visible(note))
        if not gone:
            print("nothing to delete")
        elif not delete:
            print("nothing was deleted; --delete does it")

    show(result, as_json, draw)


def _number(given: str | None, units: dict[str, int], option: str, expected: str) -> int | None:
    """Read a number with a unit. Raises BadParameter."""
    if given is None:
        return None
    found = re.fullmatch(r"(\d+)([A-Za-z]*)", given)
    if found is None or found[2] not in units:
        raise options.wrong(option, f"{given!r}: {expected} was expected")
    return int(found[1]) * units[found[2]]


@command("evenflow gate ledger out --to ledger.parquet")
def gate_ledger(directory: options.Output, *, to: Path, as_json: bool = False) -> None:
    """Write the ledger as a table: a row for each pane and attribute.

    It has verdict and reason, counts and target of each group, and DR with its interval of the
    pane, the rolling window and all panes so far. The column folder has the decisions of people.

    Args:
        to: A new file, in Parquet.
    """
    import pyarrow.parquet as pq

    from evenflow.gates.ledger import table
    from evenflow.gates.ledger.history import History

    if to.exists():
        raise options.wrong("--to", f"{to} exists; give a new file")
    history, count = History(directory), 0
    part = to.absolute().with_name(f"{to.name}.part")  # a colon in a relative name makes an address
    with pq.ParquetWriter(part, table.schema(), compression="zstd") as writer:
        for batch in table.batches(history):
            writer.write_batch(batch)
            count += batch.num_rows
    part.replace(to)
    result = {"panes": len(history), "rows": count, "file": str(to)}
    line = f"{counted(len(history), 'pane')}, {counted(count, 'row')}: {visible(str(to))}"
    show(result, as_json, lambda _: print(line))
