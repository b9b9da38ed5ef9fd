"""Scores words of a text with a masked language model: each masked, the rest shown."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from evenflow.transforms.lab.language_models import heads
from evenflow.transforms.models.loading import LanguageModelError, Loaded


@dataclass(frozen=True)
class Mask:
    """A text with one masked token.

    `tokens`: Its tokens (n,), with the mask among them.
    """

    tokens: tuple[int, ...]
    at: int
    target: int


class MaskedModel:
    """A masked language model that scores and fills."""

    def __init__(self, loaded: Loaded):
        self.loaded = loaded
        self.context = loaded.context
        if loaded.tokenizer.mask_token_id is None:
            raise LanguageModelError("the model's tokenizer has no token for a masked word")
        self.mask: int = loaded.tokenizer.mask_token_id

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text, with those that begin and end it."""
        return self.loaded.tokenizer.encode(text)

    def pieces(self, text: str) -> list[int]:
        """The tokens of a part of a text."""
        return self.loaded.tokenizer.encode(text, add_special_tokens=False)

    def framed(self, pieces: Sequence[int]) -> tuple[list[int], int]:
        """Tokens with those that begin and end a text, and how many begin it."""
        given = self.loaded.tokenizer("a", return_special_tokens_mask=True)
        ids, special = given["input_ids"], given["special_tokens_mask"]
        at = special.index(0)
        end = len(special) - special[::-1].index(0)
        return [*ids[:at], *pieces, *ids[end:]], at

    def masked(self, tokens: Sequence[int], at: int) -> Mask:
        """Mask a token of a text.

        `tokens`: The text's tokens.
        """
        return Mask((*tokens[:at], self.mask, *tokens[at + 1 :]), at, tokens[at])

    def check(self, masks: Sequence[Mask], name: str) -> None:
        """Refuse texts that are longer than the model's context."""
        longest = max((len(each.tokens) for each in masks), default=0)
        if longest > self.context:
            raise LanguageModelError(
                f"{name}: {longest:,} tokens, but the model's context has {self.context:,}"
            )

    def score(self, masks: Sequence[Mask], batch: int = 32) -> list[float]:
        """The log-probability of each mask's target."""
        import torch

        found = [0.0] * len(masks)
        for chosen, values in self._batches(masks, batch):
            targets = torch.tensor([masks[number].target for number in chosen])
            own = values.gather(1, targets.to(values.device)[:, None])[:, 0].double().tolist()
            for number, value in zip(chosen, own, strict=True):
                found[number] = value
        return found

    def fill(self, masks: Sequence[Mask], most: int, batch: int = 32) -> list[list[str]]:
        """The words that the model prefers for each mask."""
        found: list[list[str]] = [[] for _ in masks]
        for chosen, values in self._batches(masks, batch):
            for number, row in zip(chosen, values.topk(most).indices.tolist(), strict=True):
                found[number] = [self.loaded.tokenizer.decode([each]).strip() for each in row]
        return found

    def _batches(self, masks: Sequence[Mask], batch: int) -> Iterator[tuple[list[int], Any]]:
        """Numbers of texts, with the log-probabilities (n, V) at their masks."""
        import torch

        order = sorted(range(len(masks)), key=lambda number: len(masks[number].tokens))
        for start in range(0, len(order), batch):
            chosen = order[start : start + batch]
            tokens, seen = heads.padded([masks[number].tokens for number in chosen], self.loaded)
            at = torch.tensor([masks[number].at for number in chosen])
            rows = torch.arange(len(chosen))
            yield (
                chosen,
                heads.log_probabilities(
                    self.loaded.model, rows, at, input_ids=tokens, attention_mask=seen
                ),
            )
