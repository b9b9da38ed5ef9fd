"""Trains an encoder to tell how two sentences stand to each other (Conneau et al. 2017)."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple, Protocol

import torch
from torch import nn

from evenflow.schemas.encoder_section import EncoderSettings

ALIKE = 40  # characters: pairs whose lengths differ by less may meet in a batch
MOST_LOSSES = 200  # that are kept; each is the mean of so many steps


class Pair(NamedTuple):
    """A pair of sentences.

    Attributes:
        premise: The first sentence.
        hypothesis: The second one.
        label: Its label.
        task: What the label says; each task has a head of its own.
        weight: What its loss is multiplied by.
    """

    premise: str
    hypothesis: str
    label: str
    task: str
    weight: float


class SentenceEncoder(Protocol):
    """A torch module that gives vectors of sentences (n, size)."""

    size: int

    def read(self, texts: Sequence[str]) -> int:
        """Count the words, or tokens, of texts."""
        ...

    def __call__(self, texts: Sequence[str]) -> torch.Tensor:
        """The vectors."""
        ...

    def save(self, folder: Path) -> None:
        """Write it. Raises OSError."""
        ...

    def parameters(self) -> Iterator[nn.Parameter]:
        """What is learnt."""
        ...

    def train(self, mode: bool = True) -> object:
        """Say that it learns, or not."""
        ...


def learn(
    encoder: SentenceEncoder,
    pairs: Sequence[Pair],
    settings: EncoderSettings,
    seed: int,
    on_step: Callable[[int], None] = lambda step: None,
) -> list[float]:
    """Train an encoder: a task has a linear head on u, v, |u - v| and u · v.

    Args:
        encoder: The encoder.
        pairs: Pairs of one or more tasks, each with two or more labels.
        settings: How it is trained.
        seed: Seed of the heads and of the order.
        on_step: Called after each step with its number.

    Returns:
        The losses: means of equal parts of the steps, in order.
    """
    torch.manual_seed(seed)
    classes: dict[str, list[str]] = {}
    for pair in pairs:
        classes.setdefault(pair.task, []).append(pair.label)
    classes = {task: sorted(set(own)) for task, own in sorted(classes.items())}
    device = next(encoder.parameters()).device
    heads = nn.ModuleDict(
        {str(n): nn.Linear(4 * encoder.size, len(own)) for n, own in enumerate(classes.values())}
    ).to(device)
    order = {task: str(n) for n, task in enumerate(classes)}  # a task may be any text
    optimizer = torch.optim.AdamW(
        [*encoder.parameters(), *heads.parameters()], settings.learning_rate
    )
    encoder.train()
    losses: list[float] = []
    draw = random.Random(seed)
    for _ in range(settings.epochs):
        for batch in _batches(pairs, settings.batch, draw):
            task = batch[0].task
            both = encoder(
                [*(each.premise for each in batch), *(each.hypothesis for each in batch)]
            )
            u, v = both.chunk(2)
            said = heads[order[task]](torch.cat([u, v, (u - v).abs(), u * v], dim=1))
            wanted = torch.tensor([classes[task].index(each.label) for each in batch])
            each = nn.functional.cross_entropy(said, wanted.to(device), reduction="none")
            weights = torch.tensor([pair.weight for pair in batch], device=device)
            loss = (each * weights).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            losses.append(loss.item())
            on_step(len(losses))
    encoder.train(False)
    size = -(-len(losses) // MOST_LOSSES)
    parts = [losses[at : at + size] for at in range(0, len(losses), size)]
    return [round(sum(part) / len(part), 6) for part in parts]


def _batches(pairs: Sequence[Pair], size: int, draw: random.Random) -> list[list[Pair]]:
    """Batches in random order, each of one task and of like lengths."""
    order = list(pairs)
    draw.shuffle(order)
    order.sort(key=lambda pair: (pair.task, (len(pair.premise) + len(pair.hypothesis)) // ALIKE))
    batches: list[list[Pair]] = []
    for pair in order:
        if not batches or len(batches[-1]) == size or batches[-1][0].task != pair.task:
            batches.append([])
        batches[-1].append(pair)
    draw.shuffle(batches)
    return batches
