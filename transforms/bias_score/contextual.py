"""The importance of words by a transformer (Dolci et al. 2023, sections 3.4 and 6)."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt

from evenflow.transforms.bias_score import importance
from evenflow.transforms.language_models import loading
from evenflow.transforms.language_models.encoding import pooling

RUN = re.compile(r"\w+")  # as text.words.split_runs


class WordShares:
    """Gives each word of a sentence its share of what a model makes of the sentence.

    Args:
        model: A model's folder, or a local name. If it averages its pieces (its folder says so, as
            those of sentence-transformers do), the shares are those of the mean; otherwise those of
            the maximum.

    Raises:
        LanguageModelError: The model cannot be loaded.
    """

    def __init__(self, model: str):
        folder: Path = loading.folder_of(model)
        means = pooling(folder, loading.kind_of(model)) == "mean"
        self._shares = importance.mean_pool_shares if means else importance.max_pool_shares
        self._loaded = loading.load(model, kind="encoder")

    def of(self, sentence: str) -> npt.NDArray[np.float64]:
        """The shares of a sentence's n words, (n,); words behind the model's context have none."""
        import torch

        loaded = self._loaded
        given = loaded.tokenizer(
            sentence,
            return_tensors="pt",
            return_offsets_mapping=True,
            truncation=True,
            max_length=loaded.context,
        )
        places = given.pop("offset_mapping")[0].numpy()
        with torch.inference_mode():
            states = loaded.model(**given.to(loaded.device))[0][0].double().cpu().numpy()
        words = np.array([match.span() for match in RUN.finditer(sentence)]).reshape(-1, 2)
        owners = np.searchsorted(words[:, 0], places[:, 0], "right") - 1
        ends = np.append(words[:, 1], -1)[owners]  # the last one for pieces before all words
        owners[(places[:, 0] >= ends) | (places[:, 0] == places[:, 1])] = -1
        return importance.by_word(self._shares(states), owners, len(words))
