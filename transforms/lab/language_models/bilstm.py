"""A BiLSTM on word vectors, and the maximum of its states (InferSent, Conneau et al. 2017)."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from safetensors.torch import load_file, save_file
from torch import nn

from evenflow.transforms.text.words import split_runs

WEIGHTS = "encoder.safetensors"
BATCH = 256  # sentences whose vectors are computed at once
Floats = npt.NDArray[np.float64]


class WordTable:
    """The vectors of the words that were met. Row 0 is that of any word without a vector.

    Args:
        size: Numbers of a vector.
        look_up: Gives the vectors of those of some words that have one.
    """

    def __init__(self, size: int, look_up: Callable[[Sequence[str]], Mapping[str, Floats]]):
        self.size, self._look_up = size, look_up
        self._numbers: dict[str, int] = {}
        self.vectors = torch.zeros((1, size))

    def numbers(self, texts: Sequence[str], longest: int) -> list[list[int]]:
        """The rows of each text's words; a word is taken as it is, or else in lower case.

        Args:
            texts: The texts.
            longest: Words that are read of a text.

        Returns:
            The rows of each text, at least one.
        """
        words = [split_runs(text)[:longest] for text in texts]
        if new := sorted({word for own in words for word in own} - self._numbers.keys()):
            found = self._look_up([*{*new, *(word.lower() for word in new)}])
            first, rows = len(self.vectors), list[Floats]()
            for word in new:
                own = found.get(word, found.get(word.lower()))
                self._numbers[word] = 0 if own is None else first + len(rows)
                rows += [] if own is None else [own]
            more = torch.tensor(np.array(rows).reshape(len(rows), self.size), dtype=torch.float32)
            self.vectors = torch.cat([self.vectors, more])
        return [[self._numbers[word] for word in own] or [0] for own in words]


class BiLstm(nn.Module):
    """The encoder.

    Args:
        table: Word vectors, which stay as they are.
        hidden: States in each direction.
        longest: Words that are read of a sentence.

    Attributes:
        size: Numbers of a sentence's vector.
    """

    def __init__(self, table: WordTable, hidden: int, longest: int):
        super().__init__()
        self._table, self._longest, self.size = table, longest, 2 * hidden
        self.lstm = nn.LSTM(table.size, hidden, batch_first=True, bidirectional=True)
        self._known: dict[str, Floats] = {}

    def read(self, texts: Sequence[str]) -> int:
        """Look up the words of texts, which is faster for many texts at once.

        Args:
            texts: The texts.

        Returns:
            The number of their words.
        """
        return sum(map(len, self._table.numbers(texts, self._longest)))

    def forward(self, texts: Sequence[str]) -> torch.Tensor:
        """The vectors of sentences (n, size)."""
        own = [torch.tensor(each) for each in self._table.numbers(texts, self._longest)]
        sizes = torch.tensor([len(each) for each in own])
        given = self._table.vectors[nn.utils.rnn.pad_sequence(own, batch_first=True)]
        packed = nn.utils.rnn.pack_padded_sequence(
            given, sizes, batch_first=True, enforce_sorted=False
        )
        states, _ = nn.utils.rnn.pad_packed_sequence(self.lstm(packed)[0], batch_first=True)
        padding = torch.arange(states.shape[1])[None] >= sizes[:, None]
        return states.masked_fill(padding[..., None], -torch.inf).max(dim=1).values

    def save(self, folder: Path) -> None:
        """Write the weights, without the word vectors. Raises OSError."""
        folder.mkdir(parents=True, exist_ok=True)
        save_file(self.state_dict(), folder / WEIGHTS)

    def restored(self, folder: Path) -> BiLstm:
        """Take the weights of a folder. Raises OSError."""
        self.load_state_dict(load_file(folder / WEIGHTS))
        return self

    def digest(self) -> str:
        """SHA-256 of the weights."""
        whole = hashlib.sha256()
        for each in self.state_dict().values():
            whole.update(each.numpy().tobytes())
        return whole.hexdigest()

    def vectors(self, texts: Sequence[str]) -> Mapping[str, Floats]:
        """Vectors of sentences, each computed once.

        Args:
            texts: The sentences.

        Returns:
            The vector (size,) of each.
        """
        new = [text for text in dict.fromkeys(texts) if text not in self._known]
        with torch.inference_mode():
            for start in range(0, len(new), BATCH):
                some = new[start : start + BATCH]
                self._known.update(zip(some, self(some).double().numpy(), strict=True))
        return self._known
