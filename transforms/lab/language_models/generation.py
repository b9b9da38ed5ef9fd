"""Writes continuations with a causal language model, each from a seed of its own.

What a prompt's continuations share, its keys and values, is computed once.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from evenflow.transforms.models.loading import Loaded


class Prompt(NamedTuple):
    """What is to be continued."""

    text: str
    seed: int | None = None


def generate(
    loaded: Loaded, prompts: Sequence[Prompt], most: int, stops: Sequence[str] = ()
) -> list[str]:
    """Continue prompts, all in one batch.

    Tokens are drawn from the model's whole distribution (temperature 1).

    `most`: Most tokens of a continuation.
    """
    import torch

    tokenizer, device = loaded.tokenizer, loaded.device
    texts = list(dict.fromkeys(each.text for each in prompts))
    encoded = [tokenizer.encode(text) for text in texts]
    longest = max(map(len, encoded))
    draws = [
        None if each.seed is None else torch.Generator().manual_seed(each.seed) for each in prompts
    ]
    ends = _ends(loaded)
    written: list[list[int]] = [[] for _ in prompts]
    results: list[str | None] = [None] * len(prompts)
    # Padded on the left, so that the last column is the end of every prompt
    tokens = torch.tensor([[ends[0]] * (longest - len(row)) + row for row in encoded])
    mask = torch.tensor([[0] * (longest - len(row)) + [1] * len(row) for row in encoded])
    with torch.inference_mode():
        out = loaded.model(
            input_ids=tokens.to(device),
            attention_mask=mask.to(device),
            position_ids=(mask.cumsum(1) - 1).clamp(min=0).to(device),
            use_cache=True,
            logits_to_keep=1,
        )
        which = torch.tensor([texts.index(each.text) for each in prompts])
        cache, logits = out.past_key_values, out.logits[:, -1].float()[which.to(device)].cpu()
        cache.batch_select_indices(which.to(device))
        mask = mask[which]
        active = list(range(len(prompts)))
        for step in range(most):
            shares = torch.softmax(logits, dim=-1)
            chosen: list[int] = []
            kept: list[int] = []
            for row, number in enumerate(active):
                own = draws[number]
                token = int(
                    shares[row].argmax()
                    if own is None
                    else torch.multinomial(shares[row], 1, generator=own)
                )
                if token in ends:
                    results[number] = tokenizer.decode(written[number], skip_special_tokens=True)
                    continue
                written[number].append(token)
                text = tokenizer.decode(written[number], skip_special_tokens=True)
                at = min((text.find(stop) for stop in stops if stop in text), default=-1)
                if at >= 0:
                    results[number] = text[:at]
                    continue
                kept.append(row)
                chosen.append(token)
            if not kept or step == most - 1:
                break
            active = [active[row] for row in kept]
            if len(kept) < len(mask):
                cache.batch_select_indices(torch.tensor(kept, device=device))
                mask = mask[kept]
            mask = torch.cat([mask, torch.ones((len(mask), 1), dtype=mask.dtype)], dim=1)
            out = loaded.model(
                input_ids=torch.tensor(chosen, device=device)[:, None],
                attention_mask=mask.to(device),
                position_ids=(mask.sum(1, keepdim=True) - 1).to(device),
                past_key_values=cache,
                use_cache=True,
            )
            cache, logits = out.past_key_values, out.logits[:, -1].float().cpu()
    return [
        tokenizer.decode(own, skip_special_tokens=True) if text is None else text
        for text, own in zip(results, written, strict=True)
    ]


def _ends(loaded: Loaded) -> list[int]:
    """The tokens that end a text."""
    given = getattr(loaded.model.generation_config, "eos_token_id", None)
    given = loaded.tokenizer.eos_token_id if given is None else given
    return list(given) if isinstance(given, list) else [0 if given is None else given]
