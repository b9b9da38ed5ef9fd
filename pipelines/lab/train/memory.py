"""How much memory training needs, before anything large is loaded."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

GIB = 1 << 30
# Bytes of activations that a layer keeps for the backward pass, for each token and unit of width,
# at 16 bits, with an attention that keeps no square of the length (Korthikanti et al. 2022, eq. 2)
KEPT = 34
LOGITS = 12  # bytes for each token and word: logits, their softmax and its gradient, at 32 bits
ADAM = 16  # bytes a trained weight at 32 bits: itself, its gradient, two moments


@dataclass(frozen=True)
class Size:
    """What memory depends on.

    `vocabulary`: Number of tokens that can be predicted.
    """

    parameters: int
    trained: int
    layers: int
    width: int
    vocabulary: int
    word: int


def estimate(size: Size, tokens: int) -> int:
    """Estimate the memory of training."""
    activations = tokens * size.layers * size.width * KEPT * size.word // 2
    logits = tokens * size.vocabulary * LOGITS
    return size.parameters * size.word + size.trained * ADAM + activations + logits


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
