"""Batches of a language model, whose last layer is computed only where it is asked for.

The vocabulary is large: at every position it costs a fifth of a small model's time.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from evenflow.transforms.models.loading import Loaded


def log_probabilities(model: Any, rows: Any, positions: Any, **inputs: Any) -> Any:
    """Log-probabilities (n, V) in 32-bit floats at some places of a batch.

    `rows`: Rows of the places (n,). `positions`: Their positions (n,).
    """
    import torch

    last = model.get_output_embeddings()
    hook = last.register_forward_pre_hook(lambda _, given: (given[0][rows, positions],))
    with torch.inference_mode(), hook:
        return torch.log_softmax(model(**inputs).logits.float(), dim=-1)


def padded(rows: Sequence[Sequence[int]], loaded: Loaded) -> tuple[Any, Any]:
    """Tokens (n, T) with the mask of those that are there, on the model's device."""
    import torch

    longest = max(map(len, rows))
    tokens = torch.full((len(rows), longest), loaded.tokenizer.pad_token_id or 0)
    seen = torch.zeros((len(rows), longest), dtype=torch.long)
    for number, row in enumerate(rows):
        tokens[number, : len(row)], seen[number, : len(row)] = torch.tensor(row), 1
    return tokens.to(loaded.device), seen.to(loaded.device)
