"""MiniLM in torch with low-rank changes (LoRA; Hu et al., 2021) and heads, as `train_stereotype_minilm.py` trains it.

The encoder's own weights stay as they are, in bfloat16; what is learnt is laid over them, in float32. Needs torch.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from evenflow.transforms.stereotyping.stereotype_adapter import DOWN, PARTS, UP
from evenflow.transforms.stereotyping.stereotype_minilm import EMBEDDING_SCALE, HEADS, TOKENS, WIDTH

RANK = 16
HIDDEN = 96  # units of each head
ATTENTION = 12  # heads of attention
EPSILON = 1e-12  # of the norms
DROPPED = 0.1  # of a layer's outputs, the same units at every word of a sentence: drawing for each takes a tenth of the time
STRETCH = 4.0  # of people's scores, whose spread is 0.23, in training: they and the logits learn at one pace
HALF = torch.bfloat16
Floats = npt.NDArray[np.float32]
Pieces = Sequence[Sequence[int]]


def half(values: Floats) -> Tensor:
    return torch.tensor(values).to(HALF)


class Low(nn.Module):
    """A linear layer that stays as it is, with a change of low rank beside it."""

    weight: Tensor
    bias: Tensor

    def __init__(self, weight: Floats, bias: Floats):
        super().__init__()
        self.register_buffer("weight", half(weight))
        self.register_buffer("bias", half(bias))
        out, width = weight.shape
        self.down = nn.Parameter(torch.randn(RANK, width) / math.sqrt(width))
        self.up = nn.Parameter(torch.zeros(out, RANK))

    def forward(self, values: Tensor) -> Tensor:
        change = functional.linear(functional.linear(values, self.down.to(HALF)), self.up.to(HALF))
        return functional.linear(values, self.weight, self.bias) + change


class Norm(nn.Module):
    weight: Tensor
    bias: Tensor

    def __init__(self, weights: Mapping[str, Floats], name: str):
        super().__init__()
        self.register_buffer("weight", half(weights[f"{name}.weight"]))
        self.register_buffer("bias", half(weights[f"{name}.bias"]))

    def forward(self, values: Tensor) -> Tensor:
        return functional.layer_norm(values, (WIDTH,), self.weight, self.bias, EPSILON)


class Layer(nn.Module):
    """One layer of the encoder (Devlin et al., 2019)."""

    def __init__(self, weights: Mapping[str, Floats], name: str):
        super().__init__()

        def changed(part: str) -> Low:
            of_weight, of_bias = (
                np.concatenate([weights[f"{name}.{each}.{kind}"] for each in PARTS[part]]) for kind in ("weight", "bias")
            )
            return Low(of_weight, of_bias)

        self.parts = nn.ModuleDict({part.replace(".", "-"): changed(part) for part in PARTS})
        self.first = Norm(weights, f"{name}.attention.output.LayerNorm")
        self.second = Norm(weights, f"{name}.output.LayerNorm")

    def forward(self, state: Tensor, blocked: Tensor) -> Tensor:
        n, length, _ = state.shape
        three = self.parts["attention-self"](state).view(n, length, 3, ATTENTION, WIDTH // ATTENTION)
        query, key, value = three.permute(2, 0, 3, 1, 4).unbind(0)
        scores = (query @ key.transpose(2, 3)).float() / math.sqrt(WIDTH // ATTENTION)
        mixed = (torch.softmax(scores + blocked, -1).to(HALF) @ value).transpose(1, 2).reshape(n, length, WIDTH)
        state = self.first(state + self._dropped(self.parts["attention-output"](mixed)))
        inner = functional.gelu(self.parts["intermediate"](state))
        return self.second(state + self._dropped(self.parts["output"](inner)))

    def _dropped(self, values: Tensor) -> Tensor:
        if not self.training:
            return values
        kept = torch.rand(values.shape[0], 1, values.shape[2]) >= DROPPED
        return values * (kept.to(HALF) / (1 - DROPPED))


class Network(nn.Module):
    """Word pieces to the values of the heads (n, HEADS)."""

    words: Tensor
    places: Tensor

    def __init__(self, weights: Mapping[str, Floats], layers: int):
        super().__init__()
        self.register_buffer("words", half(weights["embeddings.word_embeddings.weight"]))
        kinds = weights["embeddings.token_type_embeddings.weight"][0]
        self.register_buffer("places", half(weights["embeddings.position_embeddings.weight"] + kinds))
        self.norm = Norm(weights, "embeddings.LayerNorm")
        self.layers = nn.ModuleList(Layer(weights, f"encoder.layer.{number}") for number in range(layers))
        self.inner = nn.Linear(WIDTH, HEADS * HIDDEN)
        self.outer = nn.Parameter(torch.randn(HEADS, HIDDEN) / math.sqrt(HIDDEN))
        self.shift = nn.Parameter(torch.zeros(HEADS))

    def forward(self, ids: Tensor, mask: Tensor) -> Tensor:
        state = self.norm(self.words[ids] + self.places[: ids.shape[1]])
        blocked = (mask[:, None, None, :] - 1) * 1e4
        for layer in self.layers:
            state = layer(state, blocked)
        mean = (state.float() * mask[:, :, None]).sum(1) / mask.sum(1, keepdim=True)
        hidden = functional.relu(self.inner(functional.normalize(mean, dim=-1) * EMBEDDING_SCALE))
        return (hidden.view(len(ids), HEADS, HIDDEN) * self.outer).sum(-1) + self.shift

    def tensors(self) -> dict[str, Floats]:
        """What was learnt, by the names of `stereotype_adapter`."""
        out: dict[str, Floats] = {}
        for number, layer in enumerate(self.layers):
            assert isinstance(layer, Layer)
            for part in PARTS:
                low = layer.parts[part.replace(".", "-")]
                assert isinstance(low, Low)
                name = f"encoder.layer.{number}.{part}"
                out |= {name + DOWN: low.down.detach().numpy(), name + UP: low.up.detach().numpy()}
        unstretched = torch.tensor([1 / STRETCH, *(1.0 for _ in range(1, HEADS))])
        heads = {
            "inner.weight": self.inner.weight,
            "inner.bias": self.inner.bias,
            "outer": self.outer * unstretched[:, None],
            "shift": self.shift * unstretched,
        }
        return out | {name: each.detach().numpy() for name, each in heads.items()}

    def changes(self) -> list[nn.Parameter]:
        """The parameters of the low-rank changes; the others are the heads'."""
        return list(self.layers.parameters())


def batch(pieces: Pieces) -> tuple[Tensor, Tensor]:
    """Word pieces and mask (n, longest)."""
    width = max(map(len, pieces))
    ids, mask = torch.zeros(len(pieces), width, dtype=torch.long), torch.zeros(len(pieces), width)
    for row, each in enumerate(pieces):
        ids[row, : len(each)] = torch.tensor(each)
        mask[row, : len(each)] = 1
    return ids, mask


def values(network: Network, pieces: Pieces, size: int = 64) -> Floats:
    """The heads' values (n, HEADS) of sentences in word pieces, at most TOKENS of each."""
    network.eval()
    out = np.zeros((len(pieces), HEADS), np.float32)
    order = np.argsort([len(each) for each in pieces], kind="stable")
    with torch.no_grad():
        for first in range(0, len(order), size):
            chosen = order[first : first + size]
            out[chosen] = network(*batch([pieces[i][:TOKENS] for i in chosen])).numpy()
    return out
