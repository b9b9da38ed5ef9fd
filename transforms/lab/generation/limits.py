"""Limits: what a text must not be beyond its plan, such as unlike the corpus. Each is optional."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from evenflow.schemas.config import Config
from evenflow.transforms.measures.bias_score import signal
from evenflow.transforms.staging.sentence_table import Relevant
from evenflow.transforms.substitution.base_cda import draw
from evenflow.transforms.text.sentences import bounds, trimmed

STEREOTYPE, BIAS, PERPLEXITY = "stereotype", "bias score", "perplexity"  # reasons
SAMPLE = 400  # sentences that a band is from: 10 of them lie beyond each bound
BAND = (2.5, 97.5)  # percentiles of the corpus' own sentences
BATCH = 16  # sentences that are scored at once
DRAWS = 1 << 32  # results of a draw that orders sentences

Perplexities = Callable[[Sequence[str]], list[float]]


@dataclass(frozen=True)
class Limit:
    """A limit.

    Attributes:
        reason: What a text is rejected for, of `checks.REASONS`.
        passes: Whether a text is within the limit.
        told: What the limit is, for people.
    """

    reason: str
    passes: Callable[[str], bool]
    told: Mapping[str, object] = field(default_factory=dict[str, object])


def stereotype(config: Config) -> Limit:
    """No stereotype, however weak: another text can be written instead.

    Args:
        config: The configuration.

    Raises:
        ModelError: The models cannot be used.
    """
    from evenflow.transforms.measures.stereotypes.filter import StereotypeFilter

    own = StereotypeFilter(config)

    def passes(text: str) -> bool:
        document = Relevant(0, text, trimmed(text, bounds(text).tolist()), [])
        [screened] = own.screen([document])
        return all(each.indicators is None for each in screened.findings.values())

    return Limit(STEREOTYPE, passes)


def bias_score(config: Config) -> Limit:
    """A bias score of at most a percentile of the reference corpus (Dolci et al. 2023).

    Args:
        config: The configuration; its section bias_score names the reference.

    Raises:
        BiasReferenceError: The reference cannot be used.
        VectorsError: The word vectors cannot be used.
        OSError: A file cannot be read.
    """
    own = signal.of(config)
    told = {"most": own.threshold, "percentile": config.bias_score.percentile}
    return Limit(BIAS, lambda text: not own.is_high(own.score([text])), told)


def perplexity(perplexities: Perplexities, corpus: Sequence[str], model: str) -> Limit:
    """A perplexity within the band of the corpus' own sentences.

    IntersectionRE (section 3.5) scores with a causal model and has a fixed bound. Here the bounds
    are percentiles of the corpus, so that a text is neither broken nor smoother than all of it.

    Args:
        perplexities: Scores texts; infinite where a text has no perplexity.
        corpus: Sentences of the corpus; SAMPLE of them are drawn.
        model: The model's name.
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
    return Limit(PERPLEXITY, lambda text: low <= perplexities([text])[0] <= high, told)


def by_model(folder: str) -> tuple[Perplexities, str]:
    """Load what scores perplexities.

    Args:
        folder: Folder of a causal language model, or its name in the local cache.

    Returns:
        The scorer, and the model's name. A perplexity is that of each token after the first, given
        those before it.

    Raises:
        LanguageModelError: The model cannot be used.
    """
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
