"""The sentences of a corpus that lean most to each group (Dolci et al. 2023, tables 3, 14, 15)."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Any

from evenflow.schemas.config import Config
from evenflow.transforms.io import documents
from evenflow.transforms.lab.masking.top import Top
from evenflow.transforms.measures.bias_score import signal
from evenflow.transforms.measures.bias_score.score import totals
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.transforms.text.words import split_runs

DIGITS = 4  # of a score
WORDS = 4  # different words of a sentence: of “ha ha.” a single word is the score


def top(inputs: Sequence[str], config: Config, most: int) -> dict[str, list[dict[str, Any]]]:
    """Find the sentences with the highest scores towards each group."""
    scorer = signal.of(config).scorer
    best = {name: Top(most) for name in scorer.groups}
    blocks = documents.read(inputs, config)
    every = (row for block in blocks for row in zip(block.ids, block.texts, strict=True))
    for identity, text in every:
        starts = bounds(text).tolist()
        scores = scorer.of(totals(scorer.read(text, starts)))
        for (start, end), row in zip(trimmed(text, starts), scores.groups.tolist(), strict=True):
            sentence = text[start:end]
            digest = hashlib.sha256(sentence.encode()).hexdigest()
            for name, score in zip(scorer.groups, row, strict=True):
                if score > 0 and len(set(split_runs(sentence.lower()))) >= WORDS:
                    best[name].add(score, digest, {"id": identity, "sentence": sentence})
    return {
        name: [{"score": round(score, DIGITS), **item} for score, _, item in each.best()]
        for name, each in best.items()
    }
