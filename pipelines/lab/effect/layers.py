"""The upper layers of a causal language model, which learn texts in seconds of a CPU.

The lower layers stay as they are. So what they make of a text is computed once, and serves all
arms. The loss is over the tokens of the texts that any arm reads: the rest of the vocabulary would
be most of the work, and the difference of two tokens does not depend on it.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import numpy as np

from evenflow.pipelines.lab.effect.arms import Floats
from evenflow.pipelines.lab.train.schedule import rate
from evenflow.transforms.models import loading

LAYERS = 4  # that learn
BATCH = 8  # texts in a step
RATE = 1e-3  # the highest one of AdamW
WARMUP = 2  # steps in which it rises
CLIP = 1.0  # greatest norm of a step's gradient
AT_ONCE = 32  # texts that are computed without learning
TRIED = "The doctor said that she would be back in an hour."
SAME = 0.02  # greatest norm of a difference from the whole model, as a part: products have 16 bits


class LowerStates(NamedTuple):
    """A text.

    Attributes:
        tokens: Its T tokens.
        made: What the lower layers make of them, (T, D).
    """

    tokens: Sequence[int]
    made: Any


class UpperLayers:
    """A causal model whose upper layers learn.

    Args:
        model: The model's folder, or its name.

    Attributes:
        about: How it learns.

    Raises:
        LanguageModelError: The model cannot be used.
    """

    def __init__(self, model: str):
        loaded = loading.load(model, kind="causal")
        self._tokenizer, self._device = loaded.tokenizer, loaded.device
        self._decoder = loaded.model.get_decoder()
        other = loading.LanguageModelError(f"{model}: a model of the build of Llama was expected")
        if not all(hasattr(self._decoder, name) for name in ("layers", "norm")):
            raise other
        said = self._said(loaded.model)
        loaded.model.requires_grad_(False)
        every, self._norm = self._decoder.layers, self._decoder.norm
        self._lower, self._upper = every[:-LAYERS], every[-LAYERS:]
        self._words = loaded.model.get_output_embeddings().weight
        self._pretrained = [each.detach().clone() for each in self._upper.parameters()]
        self.about = {"layers": len(self._upper), "batch": BATCH, "rate": RATE}
        # Others may scale what goes in or comes out, once for each part
        if not float((self._said() - said).norm()) <= SAME * float(said.norm()):
            raise other

    def _said(self, whole: Any = None) -> Any:
        """The logits behind TRIED, by the whole model or by the layers in two parts."""
        import torch

        tokens = self.tokens(TRIED)
        with torch.no_grad(), self._products():
            if whole is not None:
                laid = torch.tensor([tokens], device=self._device)
                return whole(input_ids=laid, use_cache=False).logits[0, -1].float()
            made = self._above(self.below([tokens]))[0, len(tokens) - 1]
        return self._words.float() @ made.float()

    def tokens(self, text: str) -> list[int]:
        """The tokens of a text."""
        return self._tokenizer.encode(text, add_special_tokens=False, verbose=False)

    def below(self, texts: Sequence[Sequence[int]]) -> list[LowerStates]:
        """What the lower layers make of texts."""
        import torch

        found: dict[int, LowerStates] = {}
        order = sorted(range(len(texts)), key=lambda at: len(texts[at]))
        with torch.no_grad():
            for start in range(0, len(order), AT_ONCE):
                places = order[start : start + AT_ONCE]
                laid = self._padded([torch.tensor(texts[at]) for at in places])
                made = self._through(self._lower, torch.nn.Identity(), input_ids=laid)
                for at, row in zip(places, made, strict=True):
                    found[at] = LowerStates(texts[at], row[: len(texts[at])].clone())
        return [found[at] for at in range(len(texts))]

    def forget(self) -> None:
        """Go back to the pretrained weights."""
        for own, start in zip(self._upper.parameters(), self._pretrained, strict=True):
            own.data.copy_(start)

    def learn(
        self, texts: Sequence[LowerStates], weights: Sequence[float], words: Sequence[int]
    ) -> None:
        """Learn texts once, in their order, from the pretrained weights on.

        Args:
            texts: The texts.
            weights: Of their tokens in the loss.
            words: The tokens that the loss is over, sorted.
        """
        import torch

        self.forget()
        self._upper.requires_grad_(True)
        known = torch.tensor(list(words), device=self._device)
        own = list(self._upper.parameters())
        optimizer = torch.optim.AdamW(own, lr=RATE, fused=True)
        steps = -(-len(texts) // BATCH)
        for step in range(steps):
            part = slice(step * BATCH, (step + 1) * BATCH)
            for group in optimizer.param_groups:
                group["lr"] = rate(step, steps, WARMUP, RATE)
            optimizer.zero_grad(set_to_none=True)
            self._loss(texts[part], weights[part], known).backward()
            torch.nn.utils.clip_grad_norm_(own, CLIP)
            optimizer.step()
        self._upper.requires_grad_(False)

    def _loss(self, texts: Sequence[LowerStates], weights: Sequence[float], known: Any) -> Any:
        """The weighted mean of the cross-entropies of the tokens of some texts."""
        import torch

        rows = self._above(texts)
        ends = [len(text.tokens) - 1 for text in texts]
        made = torch.cat([row[:end] for row, end in zip(rows, ends, strict=True)])
        each = torch.tensor(weights, device=self._device).repeat_interleave(
            torch.tensor(ends, device=self._device)
        )
        wanted = torch.tensor([t for text in texts for t in text.tokens[1:]], device=self._device)
        with self._products():
            said = made @ self._words[known].T
        losses = torch.nn.functional.cross_entropy(
            said.float(), torch.searchsorted(known, wanted), reduction="none"
        )
        return (losses * each).sum() / each.sum()

    def differences(self, texts: Sequence[LowerStates], forms: Sequence[tuple[int, int]]) -> Floats:
        """The log-probability of one token after each text, less that of another one, (n,)."""
        import torch

        found: list[Any] = []
        with torch.no_grad():
            for start in range(0, len(texts), AT_ONCE):
                own = texts[start : start + AT_ONCE]
                rows = zip(self._above(own), own, strict=True)
                last = torch.stack([row[len(text.tokens) - 1] for row, text in rows]).float()
                one, other = self._words[torch.tensor(forms[start : start + AT_ONCE]).T]
                found.append(((one - other).float() * last).sum(dim=1).cpu())
        return np.concatenate([each.double().numpy() for each in found])

    def _above(self, texts: Sequence[LowerStates]) -> Any:
        """What the upper layers make of what the lower ones made, (B, longest T, D)."""
        laid = self._padded([text.made for text in texts])
        return self._through(self._upper, self._norm, inputs_embeds=laid)

    def _padded(self, rows: Sequence[Any]) -> Any:
        """Rows as one tensor; what stands behind a text does not change what is before it."""
        import torch

        return torch.nn.utils.rnn.pad_sequence(list(rows), batch_first=True).to(self._device)

    def _through(self, layers: Any, norm: Any, **given: Any) -> Any:
        """What some of the layers make of what they are given."""
        self._decoder.layers, self._decoder.norm = layers, norm
        with self._products():
            return self._decoder(**given, use_cache=False).last_hidden_state

    def _products(self) -> AbstractContextManager[Any]:
        """Products of 16 bits, which are several times as fast; all else has 32."""
        import torch

        return torch.autocast(self._device.type, dtype=torch.bfloat16)
