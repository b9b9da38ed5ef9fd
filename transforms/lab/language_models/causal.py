"""Scores texts with a causal language model: log-probabilities of their tokens.

The texts of an item often begin alike: a context with several endings, or two sentences that differ
in a word. What they share is computed once, and its keys and values serve all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

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

    kind = "causal"

    def __init__(self, loaded: Loaded):
        self.loaded = loaded
        self.context = min(loaded.context, LONGEST)
        self._apply = heads.log_probabilities(loaded.model, "causal")

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

        shared = [_shared([each.tokens for each in texts]) for texts in items]
        totals = [[0.0] * len(texts) for texts in items]
        with torch.inference_mode():
            # What the texts of an item share: (item, position) predicts the next token
            places = [
                (number, at, texts[0].tokens[at + 1], None)
                for number, (texts, length) in enumerate(zip(items, shared, strict=True))
                for at in range(min(each.start for each in texts) - 1, length - 1)
            ]
            own = [
                (number, shared[number] - 1, text.tokens[shared[number]], which)
                for number, texts in enumerate(items)
                for which, text in enumerate(texts)
                if text.start <= shared[number]
            ]
            rows = [texts[0].tokens[:length] for texts, length in zip(items, shared, strict=True)]
            found, cache = self._run(rows, [*places, *own])
            for (number, at, _, which), value in zip([*places, *own], found, strict=True):
                for index, text in enumerate(items[number]):
                    if which == index or (which is None and at + 1 >= text.start):
                        totals[number][index] += value
            flat = [
                (number, which) for number, texts in enumerate(items) for which in range(len(texts))
            ]
            tails = [items[number][which].tokens[shared[number] :] for number, which in flat]
            places = [
                (row, at, tails[row][at + 1], None)
                for row, (number, which) in enumerate(flat)
                for at in range(
                    max(items[number][which].start - shared[number] - 1, 0), len(tails[row]) - 1
                )
            ]
            if places:
                before = (cache, [number for number, _ in flat], shared)
                for (row, *_), value in zip(
                    places, self._run(tails, places, before)[0], strict=True
                ):
                    number, which = flat[row]
                    totals[number][which] += value
        return [
            [
                Score(total, len(text.tokens) - text.start)
                for total, text in zip(own, texts, strict=True)
            ]
            for own, texts in zip(totals, items, strict=True)
        ]

    def _run(
        self,
        rows: Sequence[Sequence[int]],
        places: Sequence[tuple[int, int, int, Any]],
        before: tuple[Any, Sequence[int], Sequence[int]] | None = None,
    ) -> tuple[list[float], Any]:
        """Run the model over rows of tokens.

        `rows`: The rows' tokens. `before`: Keys and values of earlier tokens, which of them each
        row continues, and how many tokens these were.
        """
        import torch

        device = self.loaded.device
        longest = max(map(len, rows))
        tokens = torch.full((len(rows), longest), self.loaded.tokenizer.pad_token_id or 0)
        mask = torch.zeros((len(rows), longest), dtype=torch.long)
        for number, row in enumerate(rows):
            tokens[number, : len(row)] = torch.tensor(row)
            mask[number, : len(row)] = 1
        positions = torch.arange(longest).expand(len(rows), -1)
        inputs: dict[str, Any] = {}
        if before is not None:
            cache, which, lengths = before
            cache.batch_select_indices(torch.tensor(which, device=device))
            earlier = torch.tensor([lengths[each] for each in which])
            width = max(lengths)
            mask = torch.cat([(torch.arange(width) < earlier[:, None]).long(), mask], dim=1)
            positions = positions + earlier[:, None]
            inputs["past_key_values"] = cache
        at_rows = torch.tensor([each[0] for each in places], dtype=torch.long, device=device)
        at = torch.tensor([each[1] for each in places], dtype=torch.long, device=device)
        wanted = torch.tensor([each[2] for each in places], dtype=torch.long, device=device)
        found, out = self._apply(
            at_rows,
            at,
            input_ids=tokens.to(device),
            attention_mask=mask.to(device),
            position_ids=positions.to(device),
            use_cache=True,
            **inputs,
        )
        values = found.gather(1, wanted[:, None])[:, 0].double().tolist()
        return values, out.past_key_values


def _shared(rows: Sequence[Sequence[int]]) -> int:
    """How many tokens all rows begin with; each keeps one of its own at least."""
    least = min(map(len, rows)) - 1
    first = rows[0]
    for at in range(least):
        if any(row[at] != first[at] for row in rows):
            return max(at, 1)
    return max(least, 1)
