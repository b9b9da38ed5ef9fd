"""Vectors of sentences, as the model's own authors take them."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evenflow.transforms.language_models.loading import Loaded

POOLING = Path("1_Pooling") / "config.json"  # of sentence-transformers


def pooling(folder: Path, kind: str) -> str:
    """Which vector stands for a sentence.

    Args:
        folder: The model's folder.
        kind: What the model predicts.

    Returns:
        mean (of all tokens) where the folder says so, as those of sentence-transformers do; last
        (token) of a causal model; otherwise first, which is BERT's [CLS] (May et al. 2019).
    """
    try:
        said = json.loads((folder / POOLING).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        said = {}
    if isinstance(said, dict) and said.get("pooling_mode_mean_tokens"):
        return "mean"
    return "last" if kind == "causal" else "first"


def encode(
    loaded: Loaded, texts: Sequence[str], how: str, batch: int = 32
) -> npt.NDArray[np.float64]:
    """Vectors of sentences.

    Args:
        loaded: A model without its head.
        texts: The sentences; one that is longer than the context is cut.
        how: first, last or mean.
        batch: Most sentences that are computed at once.

    Returns:
        The vectors (n, D), in order.
    """
    import torch

    order = sorted(range(len(texts)), key=lambda number: len(texts[number]))
    found: dict[int, npt.NDArray[np.float64]] = {}
    for start in range(0, len(order), batch):
        chosen = order[start : start + batch]
        given = loaded.tokenizer(
            [texts[number] for number in chosen],
            return_tensors="pt",
            padding=True,
            padding_side="right",
            truncation=True,
            max_length=loaded.context,
        ).to(loaded.device)
        with torch.inference_mode():
            hidden = loaded.model(**given)[0].double()
        mask = given["attention_mask"]
        if how == "mean":
            rows = (hidden * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)
        else:
            at = mask.sum(1) - 1 if how == "last" else torch.zeros_like(mask[:, 0])
            rows = hidden[torch.arange(len(chosen)), at]
        found.update(zip(chosen, rows.cpu().numpy(), strict=True))
    return np.stack([found[number] for number in range(len(texts))])


class Encoder:
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

        Args:
            texts: The sentences.

        Returns:
            The vector (D,) of each.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        if new:
            self._known.update(zip(new, encode(self.loaded, new, self._how), strict=True))
        return self._known
