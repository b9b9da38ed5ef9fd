"""The arms of the experiment, as data: how often each text of a document is read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Question = Literal["controls", "weighting", "exchange", "removal"]

HIGH = 0.9  # quantile of the bias score above which a document is copied or removed


@dataclass(frozen=True)
class Documents:
    """The documents of a half of the corpus.

    `weights`: The weights that the gate gives, (n,). `high`: 1 for those of a high bias score, else
    0, (n,). `evidence`: How much each says what the other half of the corpus says, (n,).
    """

    weights: Floats
    high: Floats
    evidence: Floats

    @property
    def telling(self) -> Floats:
        """1 for as many documents as have a high score: those of most evidence, (n,)."""
        found = np.zeros(len(self.high))
        found[np.argsort(-self.evidence)[: int(self.high.sum())]] = 1
        return found


@dataclass(frozen=True)
class Arm:
    """A change of the corpus.

    `read`: How often each text is read, by variant, (n,).
    """

    title: str
    question: Question
    read: Callable[[Documents, np.random.Generator], dict[str, Floats]]
    control: str = "original"
    drawn: bool = False


def _exchanged(share: float) -> Callable[[Documents, np.random.Generator], dict[str, Floats]]:
    """Exchange a share of the documents."""

    def read(own: Documents, random: np.random.Generator) -> dict[str, Floats]:
        taken = (random.random(len(own.weights)) < share).astype(float)
        return {"original": 1 - taken, "exchanged": taken}

    return read


def _whole(*variants: str) -> Callable[[Documents, np.random.Generator], dict[str, Floats]]:
    """Read each document once in some variants."""
    return lambda own, random: {each: np.ones(len(own.weights)) for each in variants}


SLIGHT = "exchanged_05"  # what arms without a random control have beside them in the pilot
DOSES = {"exchanged_05": 0.05, "exchanged_25": 0.25, "exchanged": 1.0}
ARMS = {
    "original": Arm("as it came", "controls", _whole("original")),
    "exchanged": Arm("positive control: every document exchanged", "controls", _whole("exchanged")),
    "two_sided": Arm(
        "positive control: each document, and exchanged",
        "controls",
        _whole("original", "exchanged"),
    ),
    "exchanged_25": Arm(
        "25 % of the documents exchanged", "controls", _exchanged(0.25), drawn=True
    ),
    "exchanged_05": Arm("5 % of the documents exchanged", "controls", _exchanged(0.05), drawn=True),
    "weighed": Arm(
        "weights of the gate",
        "weighting",
        lambda own, random: {"original": own.weights},
        "weights_drawn",
    ),
    "weights_drawn": Arm(
        "the same weights, of other documents",
        "weighting",
        lambda own, random: {"original": random.permutation(own.weights)},
        drawn=True,
    ),
    "gc_cda": Arm("GC-CDA: what the gate exchanges (judge: fast)", "exchange", _whole("gc")),
    "base_cda": Arm(
        "half of the sentences exchanged, blindly, of either group", "exchange", _whole("half")
    ),
    "aug90": Arm(
        "Aug90: exchanged copies of documents of a high bias score",
        "exchange",
        lambda own, random: {"original": np.ones(len(own.high)), "exchanged": own.high},
        "copied_drawn",
    ),
    "copied": Arm(
        "plain copies of the same documents",
        "exchange",
        lambda own, random: {"original": 1 + own.high},
        "copied_drawn",
    ),
    "aug_drawn": Arm(
        "exchanged copies of as many drawn documents",
        "exchange",
        lambda own, random: {
            "original": np.ones(len(own.high)),
            "exchanged": random.permutation(own.high),
        },
        "copied_drawn",
        drawn=True,
    ),
    "copied_drawn": Arm(
        "plain copies of as many drawn documents",
        "exchange",
        lambda own, random: {"original": 1 + random.permutation(own.high)},
        drawn=True,
    ),
    "sub90": Arm(
        "Sub90: without documents of a high bias score",
        "removal",
        lambda own, random: {"original": 1 - own.high},
        "removed_drawn",
    ),
    "telling": Arm(
        "positive control: without as many that say most of what the other half says",
        "removal",
        lambda own, random: {"original": 1 - own.telling},
        "removed_drawn",
    ),
    "removed_drawn": Arm(
        "without as many drawn documents",
        "removal",
        lambda own, random: {"original": 1 - random.permutation(own.high)},
        drawn=True,
    ),
    "relevant": Arm(
        "baseline 2: only the sentences that name a group", "exchange", _whole("relevant")
    ),
    "one_sided": Arm(
        "BaseCDA: half of the sentences of the group that is named most (method: base)",
        "exchange",
        _whole("base"),
    ),
}
