"""The encoder's body in torch: the first layers of BERT (Devlin et al., 2019), with own types."""

# pyright: reportMissingImports=false
from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file
from transformers import BertConfig, BertModel

from evenflow.transforms.models.encoder import WIDTH
from evenflow.transforms.models.passages import LONGEST, TYPES

WORDS, PLACES, KINDS = (
    f"embeddings.{name}_embeddings.weight" for name in ("word", "position", "token_type")
)


def body(pretrained: Path, layers: int) -> Any:
    """The first layers of all-MiniLM-L6-v2. Its word embeddings do not learn.

    `pretrained`: A folder with model.safetensors.
    """
    read = load_file(pretrained / "model.safetensors")
    config = BertConfig(
        vocab_size=len(read[WORDS]),
        hidden_size=WIDTH,
        intermediate_size=4 * WIDTH,
        num_hidden_layers=layers,
        max_position_embeddings=LONGEST,
        type_vocab_size=TYPES,
        attention_probs_dropout_prob=0.0,
    )
    made = BertModel(config, add_pooling_layer=False)
    state: dict[str, torch.Tensor] = {name: read[name] for name in made.state_dict()}
    state[PLACES], state[KINDS] = state[PLACES][:LONGEST], state[KINDS][[0] * TYPES]
    made.load_state_dict(state)
    made.embeddings.word_embeddings.weight.requires_grad = False
    return made
