"""How much a word counts in its sentence, by an encoder's pooling (Dolci et al. 2023, 3.4)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from evenflow.transforms.measures.bias_score.importance import (
    by_word,
    max_pool_shares,
    mean_pool_shares,
)
from evenflow.transforms.measures.bias_score.vectors import VectorsError
from evenflow.transforms.text.words import run_spans

LONGEST = 512  # pieces that are read of a sentence: BERT's context; memory grows with the square


class PooledShares:
    """The importance of words by a transformer on the CPU.

    Args:
        model: A model's folder, or a local name; nothing is downloaded.

    Raises:
        LanguageModelError: The model cannot be loaded.
        VectorsError: It is no encoder, or its tokenizer does not say where pieces stand.
        OSError: A file cannot be read.
    """

    def __init__(self, model: str):
        from evenflow.transforms.models import loading
        from evenflow.transforms.models.encoding import pooling

        folder, kind = loading.folder_of(model), loading.kind_of(model)
        if kind == "causal" or loading.config_of(folder).is_encoder_decoder:
            raise VectorsError(
                f"{folder}: not an encoder; a model that reads a sentence as a whole was expected,"
                " such as BERT"
            )
        loaded = loading.load(model, kind="encoder")
        if not loaded.tokenizer.is_fast:
            raise VectorsError(f"{folder}: its tokenizer does not say where in a text pieces stand")
        averages = pooling(folder, kind) == "mean"
        self._pooled = mean_pool_shares if averages else max_pool_shares
        self._model, self._tokenizer = loaded.model.to("cpu"), loaded.tokenizer
        self._context = min(loaded.context, LONGEST)

    def __call__(self, sentence: str) -> npt.NDArray[np.float64]:
        """The importance of a sentence's n words, (n,); words behind the context have none."""
        import torch

        words = np.array(run_spans(sentence), np.int64).reshape(-1, 2)
        given = self._tokenizer(
            sentence.encode("utf-8", "replace").decode("utf-8"),  # without lone surrogates
            truncation=True,
            max_length=self._context,
            return_offsets_mapping=True,
            return_tensors="pt",
        )
        starts, ends = given.pop("offset_mapping")[0].numpy().T
        with torch.inference_mode():
            states = self._model(**given)[0][0].double().numpy()
        owners = np.searchsorted(words[:, 0], ends - 1, "right") - 1
        # The last one is for pieces before all words
        own = np.append(words[:, 1], -1)[owners]
        owners[(ends > own) | (starts == ends)] = -1
        return by_word(self._pooled(states), owners, len(words))
