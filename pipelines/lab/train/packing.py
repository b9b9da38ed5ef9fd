"""Tokens of documents as sequences of one length, and which of them a step takes.

A step's sequences are a function of the documents, the seed and the step, whatever was done before.
The order of the documents depends on their ids alone: of two corpora with the same ids, one with
other words, both come in the same order; of a subset, the documents keep their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

MIX = (np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB))  # of splitmix64


class Sequences(NamedTuple):
    """N sequences of T tokens.

    `tokens`: The tokens, (N, T) int32; after a sequence's end the padding token. `weights`: Weight
    of each token as a target, (N, T) float32; 0 where it is none. `lengths`: Number of tokens of
    each sequence, (N,).
    """

    tokens: NDArray[np.int32]
    weights: NDArray[np.float32]
    lengths: NDArray[np.int64]


class Document(NamedTuple):
    """A document that was cut into tokens.

    `learnt`: Which of them are targets; None: all.
    """

    id: str
    tokens: list[int]
    weight: float
    learnt: list[bool] | None = None


@dataclass
class Corpus:
    """Tokens in memory: U units, which are documents, or pieces of them.

    `context`: T, the tokens in a sequence. `ends`: Tokens before and after each sequence, which are
    no targets; None: units are laid one behind the other, and cut into sequences. `tokens`: The
    units' tokens, one behind the other. `weights`: Weight of each as a target. `starts`: Where each
    unit begins, and where the last one ends, (U + 1,).

    `keys`: What the order depends on, (U,) uint64.
    """

    context: int
    ends: tuple[tuple[int, ...], tuple[int, ...]] | None
    pad: int
    tokens: NDArray[np.int32]
    starts: NDArray[np.int64]
    weights: NDArray[np.float32]
    keys: NDArray[np.uint64]
    _orders: dict[tuple[int, int], NDArray[np.int64]] = field(default_factory=dict)

    def __len__(self) -> int:
        """Number of sequences of an epoch."""
        if self.ends is not None:
            return len(self.keys)
        return -(-len(self.tokens) // self.context)

    def take(self, step: int, size: int, seed: int) -> Sequences:
        """The sequences of a step. One epoch follows the other, also within a step."""
        if self.ends is None:
            places = self._stream(step * size * self.context, size * self.context, seed)
            places, full = places.reshape(size, self.context), np.full(size, self.context)
            return Sequences(self.tokens[places], self.weights[places], full)
        (first, last), units = self.ends, len(self.keys)
        tokens = np.full((size, self.context), self.pad, np.int32)
        weights = np.zeros((size, self.context), np.float32)
        lengths = np.zeros(size, np.int64)
        for row, place in enumerate(range(step * size, (step + 1) * size)):
            unit = int(self._order(place // units, seed)[place % units])
            own = slice(self.starts[unit], self.starts[unit + 1])
            whole = np.concatenate([first, self.tokens[own], last]).astype(np.int32)
            tokens[row, : len(whole)], lengths[row] = whole, len(whole)
            weights[row, len(first) : len(whole) - len(last)] = self.weights[own]
        return Sequences(tokens, weights, lengths)

    def _stream(self, start: int, count: int, seed: int) -> NDArray[np.int64]:
        """Where so many tokens are, of all epochs laid one behind the other."""
        places: list[NDArray[np.int64]] = []
        while count:
            epoch, within = divmod(start, len(self.tokens))
            order = self._order(epoch, seed)
            behind = np.cumsum(np.diff(self.starts)[order])
            place = int(np.searchsorted(behind, within, "right"))
            while count and place < len(order):
                end = int(self.starts[order[place] + 1])
                own = np.arange(end - (int(behind[place]) - within), end)[:count]
                places.append(own)
                start, within, count = start + len(own), within + len(own), count - len(own)
                place += 1
        return np.concatenate(places)

    def _order(self, epoch: int, seed: int) -> NDArray[np.int64]:
        """The units of an epoch in their order, (U,).

        The order is a hash (splitmix64) of seed, epoch and key.
        """
        if (seed, epoch) not in self._orders:
            rng = np.random.default_rng([seed, epoch])
            mixed = self.keys ^ rng.integers(1 << 63, dtype=np.uint64)
            for factor, shift in zip(MIX, (30, 27), strict=True):
                mixed = (mixed ^ (mixed >> np.uint64(shift))) * factor
            order = np.argsort(mixed ^ (mixed >> np.uint64(31)), kind="stable")
            self._orders = {(seed, epoch): order}
        return self._orders[seed, epoch]


def packed(documents: Iterable[Document], context: int, end: int) -> Corpus:
    """Lay documents one behind the other."""
    units = (
        (each.id, [*each.tokens, end], [each.weight] * (len(each.tokens) + 1))
        for each in documents
        if each.tokens
    )
    return _corpus(units, context, None, end)


def apart(
    documents: Iterable[Document],
    context: int,
    pad: int,
    first: tuple[int, ...] = (),
    last: tuple[int, ...] = (),
) -> Corpus:
    """Cut each document into sequences of its own."""
    room = context - len(first) - len(last)

    def units() -> Iterator[tuple[str, list[int], list[float]]]:
        for each in documents:
            weights = [each.weight * own for own in each.learnt or [True] * len(each.tokens)]
            for start in range(0, len(each.tokens), room):
                own = slice(start, start + room)
                yield f"{each.id}\0{start}", each.tokens[own], weights[own]

    return _corpus(units(), context, (first, last), pad)


def _corpus(
    units: Iterable[tuple[str, list[int], list[float]]],
    context: int,
    ends: tuple[tuple[int, ...], tuple[int, ...]] | None,
    pad: int,
) -> Corpus:
    """The corpus of some units: key, tokens, their weights."""
    tokens, weights = [np.empty(0, np.int32)], [np.empty(0, np.float32)]
    keys: list[int] = []
    for key, own, weight in units:
        tokens.append(np.array(own, np.int32))
        weights.append(np.array(weight, np.float32))
        digest = hashlib.blake2b(key.encode("utf-8", "surrogatepass"), digest_size=8).digest()
        keys.append(int.from_bytes(digest))
    return Corpus(
        context,
        ends,
        pad,
        np.concatenate(tokens),
        np.cumsum([0, *map(len, tokens[1:])]),
        np.concatenate(weights),
        np.array(keys, np.uint64),
    )


def masked(
    taken: Sequences, share: float, mask: int, vocabulary: int, rng: np.random.Generator
) -> Sequences:
    """Choose the tokens that a masked language model predicts, and hide them.

    Of the chosen ones 80 % become the mask, 10 % another token and 10 % stay (Devlin et al. 2019,
    section 3.1).

    `share`: Share of the tokens that is chosen. `vocabulary`: Number of tokens.

    Returns the sequences with tokens hidden, and weights that are 0 but at the chosen ones.
    """
    chance: Any = rng.random((2, *taken.tokens.shape))
    others = rng.integers(0, vocabulary, taken.tokens.shape)
    chosen = (chance[0] < share) & (taken.weights > 0)
    hidden = np.where(chosen & (chance[1] < 0.8), mask, taken.tokens)
    hidden = np.where(chosen & (chance[1] >= 0.9), others, hidden)
    return Sequences(
        hidden.astype(np.int32), np.where(chosen, taken.weights, np.float32(0)), taken.lengths
    )
