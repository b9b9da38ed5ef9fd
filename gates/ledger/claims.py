"""Claims of panes whose commit is under way in an object store: ledger/claims/PANE-NUMBER.json.

A claim is of neighbouring panes, and is named by the first of them. It holds the run, and of each
pane the entry and the folder of its files in staged/: who takes over finishes the commit from it.
`gates.lease` says how claims keep a run that has lost its lease from committing.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from itertools import count
from typing import Any

import orjson

from evenflow.gates.ledger.files import canonical, claim_name, parse_entry
from evenflow.schemas.ledger import PaneEntry
from evenflow.transforms.storage.storage import Storage


def make(output: Storage, run: str, panes: Iterable[tuple[str, bytes]], first: int) -> None:
    """Claim panes.

    Args:
        panes: The folder of each, and the bytes of its entry.
        first: Number of the first.

    Raises:
        OSError: The file cannot be written.
    """
    each = [{"folder": folder, "entry": orjson.Fragment(entry)} for folder, entry in panes]
    data = canonical({"run": run, "panes": each})
    # A claim that is there was made by a run that had lost the lease, and that will not use it
    next(number for number in count() if output.create(claim_name(first, number), data))


def find(output: Storage, first: int) -> dict[str, PaneEntry]:
    """Find the claim that counts of panes from `first` on.

    Returns:
        Their entries by the folder of each; empty where nobody has claimed them.
    """
    claims: list[dict[str, Any]] = []
    with suppress(FileNotFoundError):
        for number in count():  # by name: a store may list a file late
            claims.append(orjson.loads(output.read(claim_name(first, number))))
    if not claims:
        return {}
    last = max(claims, key=lambda each: each["run"])
    address = output.address("ledger/claims")
    return {
        each["folder"]: parse_entry(orjson.dumps(each["entry"]), address)
        for each in last.get("panes", [last])  # an earlier version claimed panes one by one
    }


def clear(output: Storage, panes: int) -> None:
    """Delete the claims of the first panes, which are committed."""
    claims = output.names("ledger/claims")
    output.remove([f"ledger/claims/{name}" for name in claims if int(name.split("-")[0]) < panes])
