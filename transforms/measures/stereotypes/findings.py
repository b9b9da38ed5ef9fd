"""Counts a pane's stereotypes for the ledger, over its table of sentences."""

from __future__ import annotations

from typing import Any

import numpy as np
import orjson
import pyarrow as pa
import pyarrow.compute as pc

from evenflow.schemas.config import Config
from evenflow.schemas.ledger import Filtered
from evenflow.transforms.measures.stereotypes import calibration, indicators
from evenflow.transforms.measures.stereotypes.calibration import THRESHOLD, UNSURE, Cut
from evenflow.transforms.measures.stereotypes.indicators import OF_CREED

STRONGEST = 5  # strong stereotypes that the ledger shows
SHOWN = 300  # characters of such a sentence


def deciding(rows: pa.Table) -> pa.ChunkedArray:
    """What decides whether each row is a strong stereotype: score_scsc, or else the strength."""
    return pc.call_function("coalesce", [rows.column("score_scsc"), rows.column("strength")])


class Findings:
    """The counts of a pane's stereotypes by attribute, summed over its table of sentences.

    Groups that no word list has are counted too. The table has a row of these only where a sentence
    may state a stereotype, so that `asked` is the number of such rows.
    """

    def __init__(self, config: Config):
        own, every = config.stereotypes, calibration.actions(config)
        thresholds = {
            name: config.stereotype_threshold(name) for name in every if name in config.attributes
        }
        strictest = max(thresholds.values(), default=own.threshold)
        found = calibration.cuts(config)
        self._found: dict[str, Filtered] = {}
        # The strongest: score, with a minus, then id, sentence and its indicators
        self._shown: dict[str, list[tuple[float, str, str, str]]] = {name: [] for name in every}
        for name, action in every.items():
            at = found.get(name, Cut(None))
            self._found[name] = Filtered(
                action=action,
                threshold=thresholds.get(name, strictest),
                cut=at.probability,
                read=at.read,
                right=at.right,
            )

    def seen(self, rows: pa.Table) -> pa.Table:
        """Counts the rows of a block and returns them."""
        for name, total in self._found.items():
            own = rows.filter(pc.call_function("equal", [rows.column("attribute"), name]))
            potential = own.column("potential_stereotype").to_numpy(zero_copy_only=False)
            scores = deciding(own).to_numpy(zero_copy_only=False)
            reaching = (potential >= THRESHOLD) & (scores >= total.threshold)
            # Where nothing is taken out, a strong one need not be sure
            strong = own.filter(
                pa.array(reaching) if total.action == "flag" else own.column("remove_sentence")
            )
            total.asked += own.num_rows
            total.unsure += int(
                np.isnan(potential).sum()
                + ((potential >= UNSURE[0]) & (potential < UNSURE[1])).sum()
            )
            total.potential += int((potential >= THRESHOLD).sum())
            total.strong += strong.num_rows
            total.kept += int((scores >= total.threshold).sum()) - strong.num_rows
            total.creeds += sum(
                (orjson.loads(told).get("creed") or 0.0) >= OF_CREED
                for told in own.column("linguistic_indicators").drop_null().to_pylist()
            )
            shown = strong.select(["id", "sent_text", "linguistic_indicators"]).to_pylist()
            scores = [round(score, 4) for score in deciding(strong).to_pylist()]
            every = [(-score, *row.values()) for score, row in zip(scores, shown, strict=True)]
            self._shown[name] = sorted([*self._shown[name], *every])[:STRONGEST]
        return rows

    def summary(self) -> dict[str, dict[str, Any]]:
        """The counts by attribute, as fields of `ledger.Filtered`."""
        for name, rows in self._shown.items():
            self._found[name].examples = [
                {
                    "id": identity,
                    "sentence": text[:SHOWN],
                    "score": abs(least),
                    "reasons": "; ".join(
                        indicators.shipped().weighed(text, orjson.loads(told))["reasons"]
                    )[:SHOWN],
                }
                for least, identity, text, told in rows
            ]
        return {name: each.model_dump() for name, each in self._found.items()}
