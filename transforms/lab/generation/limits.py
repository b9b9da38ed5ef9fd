"""Limits: what a text must not be beyond its plan: unlike the corpus, or a stereotype."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evenflow.schemas.config import Config
from evenflow.transforms.staging.sentence_table import Relevant
from evenflow.transforms.substitution.base_cda import draw
from evenflow.transforms.text.sentences import bounds, trimmed

# Reasons
STEREOTYPE, PERPLEXITY = "stereotype", "perplexity"
SAMPLE = 400  # sentences that a band is from: 10 of them lie beyond each bound
BAND = (2.5, 97.5)  # percentiles of the corpus' own sentences
BATCH = 16  # sentences that are scored at once
DRAWS = 1 << 32  # results of a draw that orders sentences

Perplexities = Callable[[Sequence[str]], list[float]]


@dataclass(frozen=True)
class Limit:
    """A limit.

    `check`: Whether a text is within the limit, and its figure; None: it has none.
    """

    reason: str
    check: Callable[[str], tuple[bool, float | None]]
    told: Mapping[str, object] = field(default_factory=dict[str, object])


def stereotype(config: Config) -> Limit:
    """No stereotype, however weak: another text can be written instead."""
    from evenflow.transforms.measures.stereotypes.filter import StereotypeFilter

    own = StereotypeFilter(config)

    def check(text: str) -> tuple[bool, float | None]:
        document = Relevant(0, text, trimmed(text, bounds(text).tolist()), [])
        [screened] = own.screen([document])
        every = screened.findings.values()
        figure = max((each.potential for each in every if each.potential is not None), default=None)
        return all(each.indicators is None for each in every), figure

    return Limit(STEREOTYPE, check)


def perplexity(perplexities: Perplexities, corpus: Sequence[str], model: str) -> Limit:
    """A perplexity within the band of the corpus' own sentences.

    IntersectionRE (section 3.5) scores with a causal model and has a fixed bound. Here the bounds
    are percentiles of the corpus, so that a text is neither broken nor smoother than all of it.
    """
    drawn = sorted(set(corpus), key=lambda text: (draw(text, 0, DRAWS), text))[:SAMPLE]
    found = [each for each in perplexities(drawn) if math.isfinite(each)]
    low, high = np.percentile(found, BAND).tolist() if found else (0.0, math.inf)
    told = {
        "model": model,
        "low": low if found else None,
        "high": high if found else None,
        "percentiles": list(BAND),
        "sentences": len(found),
    }

    def check(text: str) -> tuple[bool, float | None]:
        [figure] = perplexities([text])
        return low <= figure <= high, figure

    return Limit(PERPLEXITY, check, told)


def by_model(folder: str) -> tuple[Perplexities, str]:
    """Load what scores perplexities."""
    from evenflow.transforms.lab.language_models.causal import CausalModel
    from evenflow.transforms.models import loading

    model = CausalModel(loading.load(folder, kind="causal"))

    def perplexities(texts: Sequence[str]) -> list[float]:
        rows = [model.sentence(each) for each in texts]
        scored = [n for n, row in enumerate(rows) if 1 < len(row.tokens) <= model.context]
        scored.sort(key=lambda n: len(rows[n].tokens))
        found = [math.inf] * len(rows)
        for start in range(0, len(scored), BATCH):
            chosen = scored[start : start + BATCH]
            for n, [score] in zip(chosen, model.score([[rows[n]] for n in chosen]), strict=True):
                found[n] = math.exp(-score.total / score.tokens)
        return found

    return perplexities, Path(folder).name
