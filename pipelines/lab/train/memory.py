"""How much memory training needs, before anything large is loaded."""

from __future__ import annotations

from pathlib import Path
from typing import Any

GIB = 1 << 30
# Bytes of activations that a layer keeps for the backward pass, for each token and unit of width,
# at 16 bits, with an attention that keeps no square of the length (Korthikanti et al. 2022, eq. 2)
KEPT = 34
LOGITS = 12  # bytes for each token and word: logits, their softmax and its gradient, at 32 bits
ADAM = 16  # bytes a trained weight at 32 bits: itself, its gradient, two moments


def estimate(config: Any, parameters: int, trained: int, word: int, tokens: int) -> int:
    """Estimate the memory of training.

    `config`: A model's configuration. `trained`: How many of its parameters learn. `word`: Bytes of
    a number. `tokens`: That are computed at once.
    """
    activations = tokens * config.num_hidden_layers * config.hidden_size * KEPT * word // 2
    logits = tokens * config.vocab_size * LOGITS
    return parameters * word + trained * ADAM + activations + logits


def available() -> int | None:
    """Memory of this machine that a process can still have, in bytes; None if not known."""
    try:
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
    except OSError:
        return None
    found = [line.split()[1] for line in lines if line.startswith("MemAvailable:")]
    return int(found[0]) * 1024 if found else None


def refusal(need: int, room: int | None, micro_batch: int, context: int) -> str | None:
    """Say that the memory does not suffice.

    `context`: Their tokens.
    """
    if room is None or need <= room:
        return None
    return (
        f"training needs about {need / GIB:.1f} GiB of memory for {micro_batch} sequences of"
        f" {context} tokens at once, and {room / GIB:.1f} GiB are free; give a smaller"
        " finetune.micro_batch or finetune.context, or a smaller model"
    )
