"""Vectors of sentences, as the model's own authors take them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models.loading import Loaded

if TYPE_CHECKING:
    import torch

POOLING = Path("1_Pooling") / "config.json"  # of sentence-transformers
POOLED = ("mean", "max")  # what its entries pooling_mode_…_tokens may name


def pooling(folder: Path, kind: str) -> str:
    """Which vector stands for a sentence.

    Returns:
        mean or max (of all tokens) where the folder says so, as those of sentence-transformers do;
        last (token) of a causal model; otherwise first, which is BERT's [CLS] (May et al. 2019).
    """
    try:
        said = json.loads((folder / POOLING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        said = {}
    for how in POOLED:
        if isinstance(said, dict) and said.get(f"pooling_mode_{how}_tokens"):
            return how
    return "last" if kind == "causal" else "first"


def pooled(hidden: torch.Tensor, mask: torch.Tensor, how: str) -> torch.Tensor:
    """The vectors of sentences from those of their tokens.

    `hidden`: The tokens' vectors (n, tokens, D). `mask`: 1 where there is a token (n, tokens), from
    the first one on.

    Returns the vectors (n, D).
    """
    if how == "mean":
        return (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
    if how == "max":
        return hidden.masked_fill(mask[..., None] == 0, -math.inf).max(dim=1).values
    at = mask.sum(1) - 1 if how == "last" else mask[:, 0] * 0
    return hidden[range(len(hidden)), at]


def tokens(loaded: Loaded, texts: Sequence[str], most: int | None = None) -> Any:
    """The tokens of sentences, as the model takes them.

    `most`: Most tokens of a sentence; the rest is cut. None: those of the context.

    Returns the tensors input_ids, attention_mask and so on, (n, tokens).
    """
    return loaded.tokenizer(
        list(texts),
        return_tensors="pt",
        padding=True,
        padding_side="right",
        truncation=True,
        max_length=min(loaded.context, most or loaded.context),
    ).to(loaded.device)


def encode(
    loaded: Loaded, texts: Sequence[str], how: str, batch: int = 32
) -> npt.NDArray[np.float64]:
    """Vectors of sentences.

    Returns the vectors (n, D), in order.
    """
    import torch

    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    found: dict[int, npt.NDArray[np.float64]] = {}
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        given = tokens(loaded, [texts[number] for number in chosen])
        with torch.inference_mode():
            hidden = loaded.model(**given)[0].double()
        rows = pooled(hidden, given["attention_mask"], how)
        found.update(zip(chosen, rows.cpu().numpy(), strict=True))
    return np.stack([found[number] for number in range(len(texts))])


class SentenceEncoder:
    """A model that gives vectors of sentences, each computed once.

    Args:
        loaded: The model without its head.
        how: Which vector stands for a sentence (see `pooling`).
    """

    kind = "encoder"

    def __init__(self, loaded: Loaded, how: str):
        self.loaded = loaded
        self._how = how
        self._known: dict[str, npt.NDArray[np.float64]] = {}

    def vectors(self, texts: Sequence[str]) -> dict[str, npt.NDArray[np.float64]]:
        """Vectors of sentences.

        Returns the vector (D,) of each.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, encode(self.loaded, new, self._how), strict=True))
        return self._known
