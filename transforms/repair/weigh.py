"""Gives each document of a pane its weight (mode reweight)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from evenflow.schemas import documents
from evenflow.schemas.config import Config
from evenflow.schemas.documents import Figures
from evenflow.transforms.repair.least_dr import DIGITS
from evenflow.transforms.repair.plan import target_shares
from evenflow.transforms.repair.reweight import Ints, Profile, profiles, reweight
from evenflow.transforms.staging.block import Part, StagedBlock, replace_columns


def weigh(
    blocks: Sequence[StagedBlock], attribute: documents.Attribute, config: Config, figures: Figures
) -> dict[str, Any]:
    """Find the weights of a pane's documents, and write them into its blocks.

    Sums are added up by profile, in whole numbers, so that they do not depend on how the blocks
    were cut.

    Args:
        blocks: The pane's blocks with documents, in source order.
        attribute: The attribute.
        config: The configuration.
        figures: The pane's figures.

    Returns:
        The fields of ledger.Repair, less the scores, and the weighted sums.

    Raises:
        OSError: A file cannot be read or written.
    """
    name, size = attribute.name, len(attribute.groups)
    totals: dict[Profile, Ints] = {}
    products: dict[Profile, Ints] = {}
    for block in blocks:
        counts = _counts(block.read(Part.DOCUMENTS), attribute)
        own_profiles = profiles(counts)
        for each in np.unique(own_profiles, axis=0):
            key, own = tuple(each.tolist()), counts[(own_profiles == each).all(axis=1)]
            totals[key] = totals.get(key, np.zeros(size, np.int64)) + own.sum(axis=0)
            products[key] = products.get(key, np.zeros((size, size), np.int64)) + own.T @ own
    known = {key: total.tolist() for key, total in totals.items() if total.any()}
    found = reweight(
        target_shares(config, name, attribute.groups), size, known, config.repair.weight_limit
    )
    for block in blocks:
        table = block.read(Part.DOCUMENTS)
        column = table.schema.field(documents.weight(name))
        weights = pa.array(found.of(_counts(table, attribute)), pa.float64())
        block.write(Part.DOCUMENTS, replace_columns(table, {column: weights}))
    seen = figures.attributes[name]
    factors = {key: found.weights.get(key, 1.0) for key in sorted(known)}
    total = sum((factor * totals[key] for key, factor in factors.items()), np.zeros(size))
    squares = sum(
        (factor**2 * products[key] for key, factor in factors.items()), np.zeros((size, size))
    )
    sums = {
        "documents": seen.documents,
        "counts": np.round(total, DIGITS).tolist(),
        "products": np.round(squares, DIGITS).tolist(),
    }
    return {
        "sums": sums,
        "mode": "reweight",
        "strictness": config.strictness(name),
        "before": seen.sums.model_dump(),
        "expected_dr": found.expected.dr_after,
        "shortage": list(found.expected.shortage),
        "mentions": seen.counts,
        "weights": [min(factors.values(), default=1.0), max(factors.values(), default=1.0)],
    }


def _counts(table: pa.Table, attribute: documents.Attribute) -> Ints:
    """The mentions (D, M) of a block's documents."""
    columns = (table[column.name] for column in documents.mention_fields(attribute))
    return np.stack([column.to_numpy().astype(np.int64) for column in columns], axis=1)
