"""A transformer that gives vectors of sentences, while it is tuned."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

import torch
from torch import nn

from evenflow.transforms.models.encoding import POOLED, POOLING, pooled, tokens
from evenflow.transforms.models.loading import Loaded


class TunedEncoder(nn.Module):
    """The encoder.

    Args:
        loaded: A model without its head.
        how: mean or max of its tokens' vectors.
        longest: Tokens that are read of a sentence.

    Attributes:
        size: Numbers of a sentence's vector.
    """

    def __init__(self, loaded: Loaded, how: str, longest: int):
        super().__init__()
        self._loaded, self._how, self._longest = loaded, how, longest
        self.model = loaded.model
        self.size = int(loaded.model.config.hidden_size)

    def read(self, texts: Sequence[str]) -> int:
        """Count the tokens of texts.

        Args:
            texts: The texts.

        Returns:
            The number of tokens that are read.
        """
        ids = self._loaded.tokenizer(list(texts), truncation=True, max_length=self._longest)
        return sum(map(len, ids["input_ids"]))

    def forward(self, texts: Sequence[str]) -> torch.Tensor:
        """The vectors of sentences (n, size)."""
        given = tokens(self._loaded, texts, self._longest)
        return pooled(self.model(**given)[0], given["attention_mask"], self._how)

    def save(self, folder: Path) -> None:
        """Write a folder that transformers and sentence-transformers read. Raises OSError."""
        self.model.save_pretrained(folder)
        self._loaded.tokenizer.save_pretrained(folder)
        (folder / POOLING).parent.mkdir(exist_ok=True)
        said = {f"pooling_mode_{each}_tokens": each == self._how for each in POOLED}
        (folder / POOLING).write_text(
            json.dumps({"word_embedding_dimension": self.size, **said}), encoding="utf-8"
        )
