"""The last layer of a language model, computed only at the positions that are asked for.

The vocabulary is large: at every position it costs a fifth of a small model's time.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

CLOSE = 1e-3  # how far log-probabilities computed this way may differ


def log_probabilities(model: Any, kind: str) -> Callable[..., Any]:
    """Find out how a model's last layer can be applied to some positions.

    Returns A function of (rows, positions, **inputs) that gives (log-probabilities (n, V) in 32-bit
    floats at these places of the batch, the output of the model's body). A model whose head is more
    than a layer on its body computes all positions.
    """
    import torch

    body = model.base_model
    head: Any = (
        model.get_output_embeddings()
        if kind == "causal"
        else getattr(model, "cls", None) or getattr(model, "lm_head", None)
    )

    def some(rows: Any, positions: Any, **inputs: Any) -> tuple[Any, Any]:
        out = body(**inputs)
        return torch.log_softmax(head(out[0][rows, positions]).float(), dim=-1), out

    def whole(rows: Any, positions: Any, **inputs: Any) -> tuple[Any, Any]:
        out = model(**inputs)
        return torch.log_softmax(out.logits[rows, positions].float(), dim=-1), out

    if head is None:
        return whole
    probe = torch.tensor([[1, 2, 3]], device=model.device)
    places = torch.zeros(3, dtype=torch.long), torch.arange(3)
    with torch.no_grad():
        inputs = {"input_ids": probe, "attention_mask": torch.ones_like(probe)}
        try:
            same = torch.allclose(
                some(*places, **inputs)[0], whole(*places, **inputs)[0], atol=CLOSE
            )
        except (RuntimeError, TypeError):
            same = False
    return some if same else whole
