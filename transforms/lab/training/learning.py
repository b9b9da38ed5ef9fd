"""The training loop: batches of examples of all tasks, one loss."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from torch.nn import functional

from evenflow.transforms.lab.training.data import Example, Target
from evenflow.transforms.lab.training.network import Network, batch
from evenflow.transforms.models.heads import EXCHANGE, REASON, YES_NO, HeadLayout
from evenflow.transforms.models.pieces import Pieces

BATCH = 24  # examples
RATE, HEADS_RATE = 2e-4, 2e-3  # greatest learning rates: of the layers, and of untrained weights
DECAY = 0.01
WARM = 0.1  # share of the steps in which the rate rises; then it falls to zero
REASON_WEIGHT = 0.3  # weight of the reasons' loss beside that of the exchange


def train(
    network: Network,
    layout: HeadLayout,
    examples: Sequence[Example],
    epochs: int,
    seed: int,
    say: bool = True,
) -> None:
    """Train a network in place, with the same result for the same seed and number of threads.

    Args:
        network: The network.
        layout: The layout of its heads.
        examples: The examples.
        epochs: Passes over the examples.
        seed: Seed of all random numbers.
        say: Whether to print the loss of each epoch.
    """
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    fresh = [network.body.types.weight, *network.heads.parameters()]
    known = {id(each) for each in fresh}
    body = [each for each in network.parameters() if each.requires_grad and id(each) not in known]
    groups: list[dict[str, Any]] = [
        {"params": body, "lr": RATE},
        {"params": fresh, "lr": HEADS_RATE},
    ]
    optimizer = torch.optim.AdamW(groups, weight_decay=DECAY, fused=True)
    plan = [list(batches(examples, rng)) for _ in range(epochs)]
    steps = sum(map(len, plan)) + 1
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer, [RATE, HEADS_RATE], total_steps=steps, pct_start=WARM, anneal_strategy="linear"
    )
    begin = time.monotonic()
    for number, epoch in enumerate(plan):
        network.train()
        total = 0.0
        for chosen in epoch:
            loss = loss_of(network, layout, [examples[i] for i in chosen])
            loss.backward()
            torch.nn.utils.clip_grad_norm_([*body, *fresh], 1.0)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            total += float(loss.detach())
        if say:
            print(
                f"epoch {number}: loss {total / len(epoch):.3f}, {time.monotonic() - begin:.0f} s",
                flush=True,
            )
    network.eval()


def batches(examples: Sequence[Example], rng: np.random.Generator) -> Iterator[list[int]]:
    """Divide the examples of an epoch into batches of about one length, in random order.

    Args:
        examples: The examples.
        rng: Draws the order.

    Yields:
        The numbers of each batch's examples.
    """
    sizes = [max(len(each.ids) for each in one.texts) for one in examples]
    order = rng.permutation(len(examples)).tolist()
    out: list[list[int]] = []
    for first in range(0, len(order), BATCH * 20):
        block = sorted(order[first : first + BATCH * 20], key=lambda i: sizes[i])
        out += [block[at : at + BATCH] for at in range(0, len(block), BATCH)]
    for place in rng.permutation(len(out)).tolist():
        yield out[place]


def loss_of(network: Network, layout: HeadLayout, examples: Sequence[Example]) -> torch.Tensor:
    """Compute the mean loss of a batch.

    Args:
        network: The network.
        layout: The layout of its heads.
        examples: The batch.

    Returns:
        The loss, a scalar.
    """
    values = network(*batch([text for one in examples for text in one.texts]))
    losses: list[torch.Tensor] = []
    at = 0
    for one in examples:
        own = values[at : at + len(one.texts)]
        at += len(one.texts)
        losses += [target.weight * _loss(layout, own, target) for target in one.targets]
        if one.reason >= 0:
            losses.append(
                REASON_WEIGHT
                * functional.cross_entropy(_worst(own)[REASON], torch.tensor(one.reason))
            )
    return torch.stack(losses).sum() / len(examples)


def _loss(layout: HeadLayout, own: torch.Tensor, target: Target) -> torch.Tensor:
    """The loss of one target of an example whose windows have these values."""
    row = _worst(own)
    if target.head in YES_NO:
        return functional.binary_cross_entropy_with_logits(
            row[YES_NO[target.head]], torch.tensor(float(target.value))
        )
    return functional.cross_entropy(
        row[layout.columns[target.head]], torch.tensor(int(target.value))
    )


def _worst(own: torch.Tensor) -> torch.Tensor:
    """The row that decides an exchange: it is right if all of its windows are."""
    return own[own[:, EXCHANGE].argmin()]


def values(network: Network, pieces: Sequence[Pieces]) -> npt.NDArray[np.float32]:
    """Compute the head values of texts.

    Args:
        network: The network.
        pieces: The word pieces of n texts.

    Returns:
        The values, (n, outputs).
    """
    order = sorted(range(len(pieces)), key=lambda i: len(pieces[i].ids))
    out = np.zeros((len(pieces), network.heads.out_features), np.float32)
    network.eval()
    with torch.inference_mode():
        for first in range(0, len(order), 32):
            chosen = order[first : first + 32]
            out[chosen] = network(*batch([pieces[i] for i in chosen])).numpy()
    return out
