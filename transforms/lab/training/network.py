"""The encoder and its heads in torch: the first layers of BERT (Devlin et al., 2019), own types."""

from __future__ import annotations

import json
import struct
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from evenflow.transforms.models.encoder import WIDTH
from evenflow.transforms.models.pieces import CHANGED, LONGEST, TYPES, Pieces

WITHIN, HEADS = 1536, 12
DROPOUT = 0.1


class Layer(nn.Module):
    """A layer of BERT: attention, then a network of two layers, each added and normalised."""

    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
        self.out = nn.Linear(WIDTH, WIDTH)
        self.norm1 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.up = nn.Linear(WIDTH, WITHIN)
        self.down = nn.Linear(WITHIN, WIDTH)
        self.norm2 = nn.LayerNorm(WIDTH, eps=1e-12)
        self.dropout = nn.Dropout(DROPOUT)

    def forward(self, x: torch.Tensor, mask: torch.Tensor | None) -> torch.Tensor:
        """Apply the layer.

        Args:
            x: (n, length, `WIDTH`).
            mask: What is added to the attention scores; None: nothing.

        Returns:
            (n, length, `WIDTH`).
        """
        rows, length = x.shape[0], x.shape[1]
        q, k, v = (
            self.qkv(x)
            .view(rows, length, 3, HEADS, WIDTH // HEADS)
            .permute(2, 0, 3, 1, 4)
            .unbind(0)
        )
        met = functional.scaled_dot_product_attention(q, k, v, attn_mask=mask)
        met = met.transpose(1, 2).reshape(rows, length, WIDTH)
        x = self.norm1(x + self.dropout(self.out(met)))
        return self.norm2(x + self.dropout(self.down(functional.gelu(self.up(x)))))


class Body(nn.Module):
    """Turns word pieces into their states: the first layers of BERT.

    Args:
        layers: Number of layers.
        pieces: Number of word pieces in the vocabulary.
        longest: Most pieces of a text.
        types: Number of types of a piece.
    """

    def __init__(self, layers: int, pieces: int, longest: int, types: int):
        super().__init__()
        self.words = nn.Embedding(pieces, WIDTH)
        self.places = nn.Embedding(longest, WIDTH)
        self.types = nn.Embedding(types, WIDTH)
        self.norm = nn.LayerNorm(WIDTH, eps=1e-12)
        self.layers = nn.ModuleList([Layer() for _ in range(layers)])
        self.dropout = nn.Dropout(DROPOUT)

    def forward(
        self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Compute the states.

        Args:
            ids: Numbers of the word pieces, (n, length).
            types: Their types, (n, length).
            mask: 1 where there is a piece, (n, length); None: everywhere.

        Returns:
            The states, (n, length, `WIDTH`).
        """
        places = torch.arange(ids.shape[1], device=ids.device)
        x = self.dropout(self.norm(self.words(ids) + self.places(places) + self.types(types)))
        lows = None if mask is None else (1 - mask)[:, None, None, :] * -1e4
        for layer in self.layers:
            x = layer(x, lows)
        return x


class Network(nn.Module):
    """Turns word pieces into one row of head values.

    Args:
        layers: Number of layers.
        pieces: Number of word pieces in the vocabulary.
        outputs: Number of values of the heads.
    """

    def __init__(self, layers: int, pieces: int, outputs: int):
        super().__init__()
        self.body = Body(layers, pieces, LONGEST, TYPES)
        self.heads = nn.Linear(2 * WIDTH, outputs)

    def embedded(
        self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Compute the inputs of the heads.

        Args:
            ids: Numbers of the word pieces, (n, length).
            types: Their types, (n, length).
            mask: 1 where there is a piece, (n, length); None: everywhere.

        Returns:
            The mean of each text's pieces and the mean of those in changes, (n, 2 * `WIDTH`). The
            second is the same as the first in a text without changes.
        """
        x = self.body(ids, types, mask)
        kept = torch.ones_like(ids, dtype=x.dtype) if mask is None else mask
        marked = (types >= CHANGED).to(x.dtype) * kept
        marked = marked + kept * (marked.sum(1, keepdim=True) == 0).to(x.dtype)
        means = [
            (x * each[:, :, None]).sum(1) / each.sum(1, keepdim=True) for each in (kept, marked)
        ]
        return torch.cat(means, 1)

    def forward(
        self, ids: torch.Tensor, types: torch.Tensor, mask: torch.Tensor | None = None
    ) -> torch.Tensor:
        """Compute the values of the heads.

        Args:
            ids: Numbers of the word pieces, (n, length).
            types: Their types, (n, length).
            mask: 1 where there is a piece, (n, length); None: everywhere.

        Returns:
            The values, (n, outputs).
        """
        return self.heads(self.body.dropout(self.embedded(ids, types, mask)))


def batch(pieces: Sequence[Pieces]) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """Pad the pieces of texts to one length.

    Args:
        pieces: The pieces of n texts.

    Returns:
        Ids, types and mask, each (n, longest).
    """
    longest = max(len(each.ids) for each in pieces)
    ids, types = (torch.zeros(len(pieces), longest, dtype=torch.long) for _ in range(2))
    mask = torch.zeros(len(pieces), longest)
    for row, each in enumerate(pieces):
        size = len(each.ids)
        ids[row, :size], types[row, :size] = torch.tensor(each.ids), torch.tensor(each.types)
        mask[row, :size] = 1
    return ids, types, mask


def pretrained(path: Path, layers: int, outputs: int) -> Network:
    """Make a network with the weights of the first layers of all-MiniLM-L6-v2.

    Args:
        path: The weights as their package has them (safetensors).
        layers: Number of layers.
        outputs: Number of values of the heads.

    Returns:
        The network. Its heads are untrained, and its word embeddings do not learn.

    Raises:
        KeyError: The file lacks a tensor.
    """
    read = tensors(path)
    network = Network(layers, len(read["embeddings.word_embeddings.weight"]), outputs)
    load_body(network.body, read)
    return network


def load_body(body: Body, read: Mapping[str, np.ndarray]) -> None:
    """Put pretrained weights of BERT into a body. Its word embeddings then do not learn.

    Args:
        body: The body.
        read: The tensors by their names in transformers.

    Raises:
        KeyError: A tensor is missing.
    """
    types = read["embeddings.token_type_embeddings.weight"]
    state = {
        "words.weight": read["embeddings.word_embeddings.weight"],
        "places.weight": read["embeddings.position_embeddings.weight"][
            : body.places.num_embeddings
        ],
        "types.weight": types[[0] * body.types.num_embeddings],
        "norm.weight": read["embeddings.LayerNorm.weight"],
        "norm.bias": read["embeddings.LayerNorm.bias"],
    }
    for number in range(len(body.layers)):
        of, to = f"encoder.layer.{number}.", f"layers.{number}."
        for kind in ("weight", "bias"):
            qkv = [read[f"{of}attention.self.{part}.{kind}"] for part in ("query", "key", "value")]
            state[f"{to}qkv.{kind}"] = np.concatenate(qkv)
            for own, theirs in (
                ("out", "attention.output.dense"),
                ("norm1", "attention.output.LayerNorm"),
                ("up", "intermediate.dense"),
                ("down", "output.dense"),
                ("norm2", "output.LayerNorm"),
            ):
                state[f"{to}{own}.{kind}"] = read[f"{of}{theirs}.{kind}"]
    body.load_state_dict({name: torch.tensor(np.array(each)) for name, each in state.items()})
    body.words.weight.requires_grad = False


def tensors(path: Path) -> Mapping[str, np.ndarray]:
    """Read the float tensors of a safetensors file (a length, a JSON header, the numbers).

    Args:
        path: The file.

    Returns:
        The tensors by name.
    """
    data = path.read_bytes()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    out: dict[str, np.ndarray] = {}
    for name, each in header.items():
        if name != "__metadata__" and each["dtype"] == "F32":
            start, stop = (8 + size + at for at in each["data_offsets"])
            out[name] = np.frombuffer(data[start:stop], "<f4").reshape(each["shape"])
    return out
