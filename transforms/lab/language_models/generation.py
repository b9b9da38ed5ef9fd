"""Writes continuations with a causal language model, each from a seed of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from evenflow.transforms.models.loading import Loaded


class Prompt(NamedTuple):
    """What is to be continued."""

    text: str
    seed: int | None = None


def generate(
    loaded: Loaded, prompts: Sequence[Prompt], most: int, stops: Sequence[str] = ()
) -> list[str]:
    """Continue prompts, all in one batch.

    Tokens are drawn from the model's whole distribution (temperature 1): the greatest of logits
    with Gumbel noise is such a draw, and each row's noise is from its own seed, whatever stands
    beside it. Without a seed the likeliest token is taken.

    `most`: Most tokens of a continuation.
    """
    import torch
    from transformers import GenerationConfig

    draws = [
        None if each.seed is None else torch.Generator().manual_seed(each.seed) for each in prompts
    ]

    def noisy(_: Any, scores: Any) -> Any:
        noise = torch.zeros(scores.shape)
        for row, own in enumerate(draws):
            if own is not None:
                noise[row] = -torch.empty(scores.shape[1]).exponential_(generator=own).log()
        return scores.float() + noise.to(scores.device)

    given = loaded.tokenizer(
        [each.text for each in prompts], return_tensors="pt", padding=True, padding_side="left"
    ).to(loaded.device)
    begun = given["input_ids"].shape[1]

    def written(tokens: Any) -> list[str]:
        return loaded.tokenizer.batch_decode(tokens[:, begun:], skip_special_tokens=True)

    def stopped(tokens: Any, _: Any) -> Any:
        done = [any(stop in text for stop in stops) for text in written(tokens)]
        return torch.tensor(done, device=tokens.device)

    ends = loaded.model.generation_config.eos_token_id
    # Not the model's own, which may punish repetition
    loaded.model.generation_config = GenerationConfig(
        max_new_tokens=most,
        eos_token_id=loaded.tokenizer.eos_token_id if ends is None else ends,
        pad_token_id=loaded.tokenizer.pad_token_id,
    )
    made = loaded.model.generate(
        input_ids=given["input_ids"],
        attention_mask=given["attention_mask"],
        logits_processor=[noisy],
        stopping_criteria=[stopped],
    )
    return [
        text[: min((text.find(stop) for stop in stops if stop in text), default=None)]
        for text in written(made)
    ]
