"""Denials, questions, reports, objections, news and self-descriptions do not score as strong stereotypes.

The sentences of `data/not_stereotypes.jsonl` were written for Evenflow (Apache-2.0), before the rules of the indicators were.
"""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from pathlib import Path

from evenflow.schemas.sections import Stereotypes
from evenflow.transforms import stereotypes
from evenflow.transforms.indicators import shipped

SENTENCES = Path(__file__).parent / "data" / "not_stereotypes.jsonl"
KINDS = {"denial", "question", "report", "counter", "news", "self"}
# Share of the development half that must stay under the threshold; the other half is only reported, by the benchmark.
LEAST = 0.95
LEAST_UNDETECTED = 0.9  # of the same half, by the detector alone: the score is the finer of the two steps


def sentences() -> list[dict[str, str]]:
    return [json.loads(line) for line in SENTENCES.read_text(encoding="utf-8").splitlines()]


def is_development(text: str) -> bool:
    return int(hashlib.sha256(text.encode()).hexdigest(), 16) % 2 == 0


def test_the_set() -> None:
    rows = sentences()
    assert len({row["text"] for row in rows}) == len(rows) >= 220
    for half in (True, False):
        kinds = Counter(row["kind"] for row in rows if is_development(row["text"]) == half)
        assert set(kinds) == KINDS
        assert min(kinds.values()) >= 12


def test_detection_of_the_development_half() -> None:
    texts = [row["text"] for row in sentences() if is_development(row["text"])]
    detected = stereotypes.shipped().detect(texts, [[] for _ in texts])
    unseen = [one is None or one < stereotypes.THRESHOLD for one in detected]
    assert sum(unseen) / len(unseen) >= LEAST_UNDETECTED


def test_scores_of_the_development_half() -> None:
    texts = [row["text"] for row in sentences() if is_development(row["text"])]
    found = shipped().indicators(texts, [[] for _ in texts])
    under = [one is None or one.score < Stereotypes().threshold for one in found]
    assert sum(under) / len(under) >= LEAST
    # «Cannot say» would pass too, and must not be how they pass.
    assert sum(one is not None for one in found) / len(found) >= LEAST
