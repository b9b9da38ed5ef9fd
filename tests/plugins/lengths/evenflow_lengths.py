"""A measure: by how much texts that name one group are shorter than those that name another."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evenflow.schemas.config import Config
from evenflow.schemas.config.sections import Section, Share
from evenflow.schemas.ledger import Measured, Score
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.searched import Searched
from evenflow.transforms.measures.measure import (
    Columns,
    Counter,
    Family,
    Measure,
    MeasureTotals,
    rolled,
)
from evenflow.transforms.measures.verdict import Thresholds, decide
from evenflow.wordlists.loader import WordList

DIGITS, Z = 6, 1.96


class LengthSettings(Section):
    attribute: str = "gender"
    warn: Share = 0.2
    block: Share = 0.4
    min_documents: int = 100


class Lengths(Measured):
    """Of each group n, t and s: its texts, the sum of their lengths, and of the squares."""

    groups: dict[str, dict[str, int]]
    gap: float | None
    low: float | None


class LengthCounter(Counter):
    def __init__(self, number: int, words: WordList):
        self._number, self._groups = number, words.groups

    def count(
        self, found: Documents, piece: Searched, columns: Columns | None = None
    ) -> dict[str, Any]:
        lengths = np.fromiter(map(len, piece.texts), np.int64, len(piece.texts))
        labels = piece.every[self._number]
        owners = np.searchsorted(piece.begins, labels.starts, "right") - 1
        out: dict[str, Any] = {}
        for number, group in enumerate(self._groups):
            own = lengths[np.unique(owners[labels.groups == number])]
            out[group] = {"n": len(own), "t": int(own.sum()), "s": int((own**2).sum())}
        return out


class LengthMeasure(Measure[Lengths]):
    name = "lengths"
    title = "length of texts"
    record = Lengths
    settings = LengthSettings
    about_limits = "Gap of lengths from which a pane gets a warning, or is blocked."

    def counter(self, config: Config, lists: Sequence[WordList]) -> Counter | None:
        own = self.own_settings(config)
        if own is None:
            return None
        (place,) = (at for at, each in enumerate(lists) if each.attribute == own.attribute)
        return LengthCounter(place, lists[place])

    def judge(
        self,
        config: Config,
        lists: Sequence[WordList],
        counted: Mapping[str, Any],
        totals: MeasureTotals | None,
    ) -> Lengths | None:
        own = self.own_settings(config)
        if own is None:
            return None
        rolling = rolled(counted, totals)
        gap, low = _gap(rolling)
        texts = sum(each["n"] for each in rolling.values())
        seen = Score(dr=gap, corrected=None, low=low, high=None, mentions=texts, documents=texts)
        before = totals.last.verdict.state if totals is not None else None
        limits = Thresholds(own.warn, own.block, own.min_documents, config.gate.hysteresis)
        verdict = decide(seen, limits, before, "rolling gap of lengths", "text")
        return Lengths(groups=dict(counted), gap=gap, low=low, verdict=verdict)

    def sums(self, record: Lengths) -> dict[str, Any]:
        return record.groups

    def without_sums(self, record: Lengths) -> Lengths:
        return record.model_copy(update={"groups": {}})

    def lines(self, section: Mapping[str, Any]) -> list[str]:
        return [f"length of texts: gap {section['gap']}: {section['verdict']['state']}"]

    def families(self, totals: MeasureTotals | None) -> Iterator[Family]:
        texts = {(group,): each["n"] for group, each in (totals.sums if totals else {}).items()}
        yield Family("lengths_texts", "Texts that name a group.", ["group"], texts, True)

    def thresholds(self, config: Config) -> dict[str, float | None]:
        own = self.own_settings(config)
        return {} if own is None else {"warn": own.warn, "block": own.block}


def _gap(groups: Mapping[str, Mapping[str, int]]) -> tuple[float | None, float | None]:
    """1 - the least mean over the greatest, and its lower bound from the logarithm's error."""
    known = [each for each in groups.values() if each["n"] > 1 and each["t"]]
    if len(known) < 2:
        return None, None
    rows = sorted((each["t"] / each["n"], each["s"], each["n"]) for each in known)
    (least, *_), (greatest, *_) = rows[0], rows[-1]
    errors = (max(s / n - mean**2, 0) / n / mean**2 for mean, s, n in (rows[0], rows[-1]))
    ratio = least / greatest
    low = max(0.0, 1 - ratio * math.exp(Z * math.sqrt(sum(errors))))
    return round(1 - ratio, DIGITS), round(low, DIGITS)
