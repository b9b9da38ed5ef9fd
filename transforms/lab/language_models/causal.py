"""Scores texts with a causal language model: log-probabilities of their tokens."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from evenflow.transforms.lab.language_models import generation, heads
from evenflow.transforms.models.loading import LanguageModelError, Loaded

LONGEST = 2048  # tokens of a text, so that one does not fill the memory


class Score(NamedTuple):
    """What a text is worth to a model.

    `total`: Sum of the log-probabilities of its tokens (natural logarithm).
    """

    total: float
    tokens: int


@dataclass(frozen=True)
class Text:
    """A text whose end is scored.

    `tokens`: Its tokens (n,).
    """

    tokens: tuple[int, ...]
    start: int


class CausalModel:
    """A causal language model that scores."""

    def __init__(self, loaded: Loaded):
        self.loaded = loaded
        self.context = min(loaded.context, LONGEST)

    def ending(self, context: str, ending: str) -> Text:
        """A text of a context and an ending, of which the ending is scored.

        As lm-evaluation-harness has it: both are cut into tokens together, blanks at the end of the
        context go with the ending, and an empty context is the token that begins a text.
        """
        tokenizer = self.loaded.tokenizer
        kept = context.rstrip()
        ending = context[len(kept) :] + ending
        if not kept:
            tokens = tokenizer.encode(ending, add_special_tokens=False)
            first = tokenizer.bos_token_id
            first = tokenizer.eos_token_id if first is None else first
            return Text((first, *tokens), 1)
        before = tokenizer.encode(kept)
        return Text(tuple(tokenizer.encode(kept + ending)), len(before))

    def sentence(self, text: str) -> Text:
        """A text that is scored from its second token on, as a loss of transformers has it."""
        return Text(tuple(self.loaded.tokenizer.encode(text)), 1)

    def generate(
        self, prompts: Sequence[generation.Prompt], most: int, stops: Sequence[str] = ()
    ) -> list[str]:
        """Continue prompts (see `generation.generate`)."""
        return generation.generate(self.loaded, prompts, most, stops)

    def check_prompt(self, prompt: generation.Prompt, most: int, name: str) -> None:
        """Refuse a prompt that does not fit into the model's context with its continuation.

        `most`: Most tokens of a continuation.
        """
        size = len(self.loaded.tokenizer.encode(prompt.text))
        if size + most > self.loaded.context:
            raise LanguageModelError(
                f"{name}: {size:,} tokens and {most:,} more, but the model's context has"
                f" {self.loaded.context:,}"
            )

    def check(self, texts: Sequence[Text], name: str) -> None:
        """Refuse texts that cannot be scored."""
        for each in texts:
            if len(each.tokens) > self.context:
                raise LanguageModelError(
                    f"{name}: {len(each.tokens):,} tokens, but the model's context has"
                    f" {self.context:,}"
                )
            if not 0 < each.start < len(each.tokens):
                raise LanguageModelError(f"{name}: nothing is left to score in a text")

    def score(self, items: Sequence[Sequence[Text]]) -> list[list[Score]]:
        """Score the texts of items, all in one batch."""
        import torch

        texts = [text for own in items for text in own]
        tokens, seen = heads.padded([each.tokens for each in texts], self.loaded)
        # The token at a place is predicted at the one before it
        places = [
            (row, at)
            for row, text in enumerate(texts)
            for at in range(text.start, len(text.tokens))
        ]
        rows, at = torch.tensor(places, device=self.loaded.device).T
        found = heads.log_probabilities(
            self.loaded.model, rows, at - 1, input_ids=tokens, attention_mask=seen
        )
        values = found.gather(1, tokens[rows, at][:, None])[:, 0].double().tolist()
        totals = [0.0] * len(texts)
        for (row, _), value in zip(places, values, strict=True):
            totals[row] += value
        made = iter(
            Score(total, len(text.tokens) - text.start)
            for total, text in zip(totals, texts, strict=True)
        )
        return [[next(made) for _ in own] for own in items]
