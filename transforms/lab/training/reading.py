"""Trains the reader: an encoder over passages, with heads on the mentions' vectors."""

# pyright: reportMissingImports=false
from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch import nn
from torch.nn import functional
from transformers import BertConfig, BertModel

from evenflow.transforms.lab.training.labelled import Labelled
from evenflow.transforms.models import passages
from evenflow.transforms.models.encoder import WIDTH
from evenflow.transforms.models.passages import AFTER, BEFORE, CELL, LONGEST, TYPES, Passage
from evenflow.transforms.models.reader import REASONS, WHO

HIDDEN, LINK = 256, 64
RATE, HEADS_RATE = 1e-4, 1e-3  # greatest learning rates: of the layers, and of untrained weights
AGAIN = 5e-5, 2e-4  # the same where an earlier training goes on
DECAY, WARM = 0.01, 0.1
PIECES = 6000  # of a batch
WHO_WEIGHT, REASON_WEIGHT, LINK_WEIGHT = 0.5, 0.3, 0.5  # of the losses beside that of `right`
WINDOW = BEFORE + CELL + AFTER
SEEN = BEFORE // 2  # characters of context that a mention needs before it
# Nine in ten passages have nobody who may change. A share of them is read in a pass, with a weight
# that makes up for it.
KEPT = 0.5
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


class ReaderNetwork(nn.Module):
    """An encoder and the heads of `reader.Reader`."""

    def __init__(self, body: Any):
        super().__init__()
        self.body = body
        self.dropout = nn.Dropout(0.1)
        self.hidden = nn.Linear(WIDTH, HIDDEN)
        self.right = nn.Linear(HIDDEN, 1)
        self.who = nn.Linear(WIDTH, len(WHO))
        self.reason = nn.Linear(WIDTH, len(REASONS))
        self.link_one, self.link_other = nn.Linear(WIDTH, LINK), nn.Linear(WIDTH, LINK)
        self.link = nn.Parameter(torch.tensor([-1.0]))

    def forward(self, ids: torch.Tensor, types: torch.Tensor) -> torch.Tensor:
        """Compute the states of the pieces of passages, (n, length, `WIDTH`)."""
        return self.body(ids, token_type_ids=types).last_hidden_state

    def near(self, vectors: torch.Tensor) -> torch.Tensor:
        """The logits that two of n mentions are one person, (n, n)."""
        found = self.link_one(vectors) @ self.link_other(vectors).T / LINK**0.5 + self.link
        return (found + found.T) / 2


@dataclass(frozen=True)
class LabelledPassage:
    """A passage with labels."""

    of: Labelled
    passage: Passage
    weight: float = 1.0


def examples(
    documents: Sequence[Labelled], model: Any, rng: np.random.Generator
) -> Iterator[LabelledPassage]:
    """Cut passages at random places, which cover each document twice."""
    for each in documents:
        owners = each.owners
        phase = int(rng.integers(0, WINDOW // 2))
        lows = [0, *range(phase, max(phase, len(each.text) - SEEN), WINDOW // 2)]
        for low in lows:
            high = low + WINDOW
            from_ = low + SEEN if low else 0
            own = [n for n, place in enumerate(each.places) if from_ <= place.start < high - 40]
            easy = not any(each.meant[owners[n]].right for n in own)
            if own and not (easy and rng.random() > KEPT):
                made = passages.passage(model, each.text, low, high, each.places, own)
                if any(number in made.spans for number in own):
                    yield LabelledPassage(each, made, 1 / KEPT if easy else 1.0)
            if high >= len(each.text):
                break


def batches(
    examples: Sequence[LabelledPassage], rng: np.random.Generator
) -> Iterator[list[LabelledPassage]]:
    """Divide examples into batches of about one length, in random order."""
    order = rng.permutation(len(examples)).tolist()
    out: list[list[LabelledPassage]] = []
    for first in range(0, len(order), 200):
        block = sorted(
            (examples[i] for i in order[first : first + 200]), key=lambda one: len(one.passage.ids)
        )
        batch: list[LabelledPassage] = []
        for one in block:
            if batch and len(one.passage.ids) * (len(batch) + 1) > PIECES:
                out.append(batch)
                batch = []
            batch.append(one)
        out.append(batch)
    for place in rng.permutation(len(out)).tolist():
        yield out[place]


def states(network: ReaderNetwork, found: Sequence[Passage]) -> list[torch.Tensor]:
    """Compute the vectors of the mentions of passages."""
    longest = max(len(each.ids) for each in found)
    ids = torch.zeros(len(found), longest, dtype=torch.long)
    types, mask = torch.zeros_like(ids), torch.zeros(len(found), longest)
    for row, each in enumerate(found):
        size = len(each.ids)
        ids[row, :size], types[row, :size] = torch.tensor(each.ids), torch.tensor(each.types)
        mask[row, :size] = 1
    with torch.autocast("cpu", dtype=torch.bfloat16):
        x = network.body(ids, mask, types).last_hidden_state
    x = x.float()
    return [
        torch.stack([x[row, first:last].mean(0) for first, last in each.spans.values()])
        for row, each in enumerate(found)
    ]


def loss_of(network: ReaderNetwork, batch: Sequence[LabelledPassage]) -> torch.Tensor:
    """Compute the loss of a batch: each person weighs by the root of its mentions."""
    losses: list[torch.Tensor] = []
    total = 0.0
    for one, vectors in zip(batch, states(network, [each.passage for each in batch]), strict=True):
        owners, numbers = one.of.owners, list(one.passage.spans)
        own = [
            (at, one.of.meant[owners[n]]) for at, n in enumerate(numbers) if n in one.passage.own
        ]
        weights = torch.tensor([one.weight * len(each.mentions) ** -0.5 for _, each in own])
        h = vectors[[at for at, _ in own]]
        hidden = functional.gelu(network.hidden(network.dropout(h)))
        right = torch.tensor([float(each.right) for _, each in own])
        said = network.right(hidden)[:, 0]
        off = functional.binary_cross_entropy_with_logits(said, right, reduction="none")
        losses.append(weights @ off)
        for head, weight, kinds in (
            (network.who, WHO_WEIGHT, [each.who for _, each in own]),
            (network.reason, REASON_WEIGHT, [each.reason for _, each in own]),
        ):
            target = torch.tensor(kinds)
            off = functional.cross_entropy(head(h), target.clamp(min=0), reduction="none")
            losses.append(weight * weights @ off.masked_fill(target < 0, 0))
        total += float(weights.sum())
        same = torch.tensor([owners[n] for n in numbers])
        codes = {name: code for code, name in enumerate(dict.fromkeys(one.of.groups))}
        group = torch.tensor([codes[one.of.groups[n]] for n in numbers])
        use = (group[:, None] == group).triu(1)
        if use.any():
            near = functional.binary_cross_entropy_with_logits(
                network.near(vectors)[use], (same[:, None] == same)[use].float()
            )
            losses.append(LINK_WEIGHT * weights.sum() * near)
    return torch.stack(losses).sum() / total


def train(
    network: ReaderNetwork,
    documents: Sequence[Labelled],
    model: Any,
    epochs: int,
    seed: int,
    rates: tuple[float, float] = (RATE, HEADS_RATE),
    say: Callable[[str], None] = print,
) -> None:
    """Train a network in place."""
    torch.manual_seed(seed)
    rng = np.random.default_rng(seed)
    fresh = network.body.embeddings.token_type_embeddings.weight
    body = [each for each in network.body.parameters() if each.requires_grad and each is not fresh]
    known = {id(each) for each in network.body.parameters()}
    heads = [fresh, *(each for each in network.parameters() if id(each) not in known)]
    groups = [{"params": own, "lr": rate} for own, rate in zip((body, heads), rates, strict=True)]
    optimizer = torch.optim.AdamW(groups, weight_decay=DECAY)
    plan = [list(batches(list(examples(documents, model, rng)), rng)) for _ in range(epochs)]
    schedule = torch.optim.lr_scheduler.OneCycleLR(
        optimizer,
        list(rates),
        total_steps=sum(map(len, plan)) + 1,
        pct_start=WARM,
        anneal_strategy="linear",
    )
    begin = time.monotonic()
    for number, epoch in enumerate(plan):
        network.train()
        total = 0.0
        for step, batch in enumerate(epoch, 1):
            loss = loss_of(network, batch)
            loss.backward()
            torch.nn.utils.clip_grad_norm_([*body, *heads], 1.0)
            optimizer.step()
            optimizer.zero_grad()
            schedule.step()
            total += float(loss.detach())
            if step % 50 == 0 or step == len(epoch):
                say(
                    f"pass {number}, step {step} of {len(epoch)}: loss {total / step:.3f},"
                    f" {time.monotonic() - begin:.0f} s"
                )
    network.eval()
