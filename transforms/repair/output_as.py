"""Writes weights out: as a column, or as documents that are left out or written several times.

A sample is drawn by systematic sampling (Madow 1949; Tillé, “Sampling Algorithms”, 2006, section
7.1). The documents stand on a line, each as long as its weight, and a comb with teeth at a distance
of 1 is laid on it: a document is written once for each tooth. The comb's start is a hash of the
seed, and so is the order within a stratum. So a document is written w times on average, floor(w) or
ceil(w) times in any case, and each run of strata has its total within one document.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from hashlib import blake2b

import numpy as np
import pyarrow as pa

from evenflow.schemas.documents import COPY_OF, ID, REASON, TEXT, WEIGHT
from evenflow.transforms.repair.calibration import DIGITS, Floats
from evenflow.transforms.repair.profiles import Ints
from evenflow.transforms.staging.block import INPUT, replace_columns

UNIT = 10**DIGITS  # weights have so many decimals, so sums of their whole multiples are exact
COPY = "{id}#copy={number}"  # id of a copy

# Number of a block and its documents -> what is written of them
Give = Callable[[int, pa.Table], pa.Table]


def draw(weights: Floats, strata: Ints, ids: Sequence[str], seed: int) -> Ints:
    """Draw how often each document is written.

    `weights`: The documents' weights, (D,), of DIGITS decimals. `strata`: Their strata, (D,).
    `ids`: Their ids, (D,). Returns how often, (D,).
    """
    keys = np.array([_hash(seed, each) for each in ids], np.uint64)
    order = np.lexsort((np.array(ids, object).astype(str), keys, strata))
    length = np.rint(weights[order] * UNIT).astype(np.int64)
    ends = np.cumsum(length) + _hash(seed, "") % UNIT
    times = np.empty(len(order), np.int64)
    times[order] = ends // UNIT - (ends - length) // UNIT
    return times


def as_column(weights: Sequence[Floats]) -> Give:
    """Write weights as a column.

    Args:
        weights: Those of each block's documents.

    Returns:
        What puts the column into a block's documents.
    """
    return lambda block, table: replace_columns(
        table, {WEIGHT: pa.array(weights[block], pa.float64())}
    )


def as_copies(times: Sequence[Ints], ids: Sequence[str]) -> Give:
    """Write documents as often as drawn; a copy has an id of its own, and names its original.

    Args:
        times: How often, of each block's documents.

    Returns:
        What makes these rows of a block's documents.
    """
    known = set(ids)

    def given(block: int, table: pa.Table) -> pa.Table:
        own = times[block]
        rows = np.repeat(np.arange(len(own)), own)
        number = np.arange(len(rows)) - np.repeat(np.cumsum(own) - own, own)
        taken = table.take(pa.array(rows))
        old, origins = taken[ID.name].to_pylist(), taken[COPY_OF.name].to_pylist()
        new: list[str] = []
        for at, (identity, copy) in enumerate(zip(old, number.tolist(), strict=True)):
            if copy:
                origins[at] = identity
                identity = COPY.format(id=identity, number=copy)
                while identity in known:
                    identity += "'"  # an output with copies is read again
                known.add(identity)
            new.append(identity)
        columns = {ID: pa.array(new, pa.string()), COPY_OF: pa.array(origins, pa.string())}
        return replace_columns(taken, columns)

    return given


def left_out(table: pa.Table, times: Ints, weights: Floats) -> pa.Table:
    """The documents of a block that a sample leaves out, as `staging.aside` writes them.

    Args:
        table: The block's documents, D of them.
        times: How often each is written, (D,).
        weights: Their weights, (D,).

    Returns:
        Those that are not written, with the reason.
    """
    out = table.filter(pa.array(times == 0))
    reasons = [f"left out by the sample: weight {each:.3g}" for each in weights[times == 0]]
    own = [ID.name, TEXT.name, *(name for name in out.column_names if name.startswith(INPUT))]
    return out.select(own).append_column(REASON, pa.array(reasons, pa.string()))


def _hash(seed: int, text: str) -> int:
    """A number of 63 bits from a seed and a text."""
    return int.from_bytes(blake2b(f"{seed} {text}".encode(), digest_size=8).digest()) >> 1
