"""Trains a model step by step: its weights, its optimizer, its memory."""

# pyright: reportMissingImports=false
from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenflow.pipelines.lab.train import checkpoint, memory, packing
from evenflow.pipelines.lab.train.errors import TrainingError, TrainInputError
from evenflow.pipelines.lab.train.packing import Corpus, Sequences
from evenflow.schemas.config.finetune import FinetuneSettings
from evenflow.transforms.models import loading

KINDS = {"causal": "causal", "mlm": "masked"}  # of models, by objective
CLASSES = {"causal": "AutoModelForCausalLM", "mlm": "AutoModelForMaskedLM"}
TARGETS = {
    "causal": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    "mlm": ["query", "key", "value", "dense"],
}

CLIP = 1.0  # greatest norm of a step's gradient: the paper names none, and transformers has this


@dataclass(frozen=True)
class Progress:
    """How far training is.

    `rate`: Tokens a second.
    """

    step: int
    steps: int
    loss: float
    rate: float
    left: float


class Trainer:
    """A model with its optimizer."""

    def __init__(
        self,
        folder: Path,
        tokens: Any,
        settings: FinetuneSettings,
        context: int,
        steps: int,
        adapter: Path | None = None,
    ):
        """Load a model for training.

        `adapter`: Folder of the adapter to start from; None: a new one.
        """
        import torch

        self._settings, self._tokens, self._steps = settings, tokens, steps
        self._micro = min(settings.micro_batch, settings.batch)
        self._cuda = torch.cuda.is_available()
        self._device = "cuda" if self._cuda else "cpu"
        if settings.threads:
            torch.set_num_threads(settings.threads)
        need = self._check_memory(folder, context)
        model = loading.load(str(folder), kind=KINDS[settings.objective]).model  # type: ignore[arg-type]
        if not settings.rank:
            model = model.float()  # small steps get lost in 16 bits
        words = model.get_input_embeddings().weight.shape[0]
        if len(tokens) > words:
            raise TrainInputError(
                f"{folder}: the tokenizer has {len(tokens)} tokens and the model {words}; they do"
                " not belong together"
            )
        self._words = words
        if settings.model_dropout is not None:
            set_dropout(model, settings.model_dropout)
        torch.manual_seed(settings.seed)
        self._model: Any = self._lora(model, folder).to(self._device)
        if adapter is not None:
            self._start_from(adapter)
        self._model.train()
        self._optimizer, name = self._adamw()
        self.facts: dict[str, Any] = {
            "optimizer": name,
            "memory": need,
            "device": self._device,
            **dict(zip(("parameters", "trained"), _sizes(self._model), strict=True)),
        }

    def _check_memory(self, folder: Path, context: int) -> int:
        """Estimate the memory of training. Raises TrainInputError if it does not suffice."""
        import torch
        import transformers

        config = loading.config_of(folder)
        with torch.device("meta"):
            kind = getattr(transformers, CLASSES[self._settings.objective])
            empty = self._lora(kind.from_config(config), folder)
        word = 2 if self._cuda and self._settings.rank else 4
        room = torch.cuda.mem_get_info()[0] if self._cuda else memory.available()
        need = memory.estimate(config, *_sizes(empty), word, self._micro * context)
        if why := memory.refusal(need, room, self._micro, context):
            raise TrainInputError(why)
        return need

    def _lora(self, model: Any, folder: Path) -> Any:
        """The model with LoRA, as it is with rank 0. Raises TrainInputError if it cannot be."""
        if not self._settings.rank:
            return model
        from peft import LoraConfig, get_peft_model

        own = self._settings
        lora = LoraConfig(
            r=own.rank,
            lora_alpha=own.alpha,
            lora_dropout=own.dropout,
            target_modules=own.targets or TARGETS[own.objective],
            task_type="CAUSAL_LM" if own.objective == "causal" else None,
        )
        try:
            return get_peft_model(model, lora)
        except ValueError as error:
            raise TrainInputError(f"{folder}: {error} Name its layers in targets.") from error

    def _start_from(self, adapter: Path) -> None:
        """Take over an adapter's weights. Raises TrainInputError if they do not fit."""
        from peft import PeftConfig, set_peft_model_state_dict
        from safetensors.torch import load_file

        own = self._settings
        if not own.rank:
            raise TrainInputError(f"{adapter}: without LoRA (rank 0) give a whole model, --model")
        try:
            before: Any = PeftConfig.from_pretrained(str(adapter))
            weights = load_file(adapter / loading.ADAPTER[1])
            done = set_peft_model_state_dict(self._model, weights)
        except (OSError, ValueError, RuntimeError) as error:
            raise TrainInputError(f"{adapter}: its weights do not fit: {error}") from error
        missing = [name for name in done.missing_keys if "lora_" in name]
        if missing or done.unexpected_keys or before.lora_alpha != own.alpha:
            raise TrainInputError(f"{adapter}: it has other targets or alpha than finetune says")

    def _adamw(self) -> tuple[Any, str]:
        """AdamW over what is trained, in 8 bits where a GPU has it; and its name."""
        import torch

        own = self._settings
        weights = list(checkpoint.trained(self._model).values())
        options: dict[str, Any] = {"lr": own.rate, "weight_decay": own.weight_decay}
        if self._cuda:
            with suppress(ImportError):
                from bitsandbytes.optim import AdamW8bit  # pyright: ignore[reportMissingImports]

                return AdamW8bit(weights, **options), "AdamW, 8 bits"
        return torch.optim.AdamW(weights, **options, fused=True), "AdamW"

    def train(
        self, corpus: Corpus, output: Path, on_step: Callable[[Progress], None]
    ) -> list[float]:
        """Train to the last step, from the checkpoint if there is one."""
        facts = checkpoint.load(output, self._model, self._optimizer) or {}
        losses: list[float] = facts.get("losses", [])
        first, began, tokens = len(losses), time.perf_counter(), 0
        for step in range(first, self._steps):
            taken = corpus.take(step, self._settings.batch, self._settings.seed)
            loss = self._gradients(taken, step)
            if not math.isfinite(loss):
                kept = step - step % self._settings.checkpoint_steps
                raise TrainingError(
                    f"the loss of step {step + 1} is {loss}; the checkpoint is of step {kept}. Give"
                    " a lower finetune.rate and another --output"
                )
            losses.append(loss)
            if len(losses) % self._settings.checkpoint_steps == 0:
                checkpoint.save(output, self._model, self._optimizer, {"losses": losses})
            tokens += int(taken.lengths.sum())
            seconds = time.perf_counter() - began
            left = seconds / (step + 1 - first) * (self._steps - step - 1)
            on_step(Progress(step + 1, self._steps, loss, tokens / seconds, left))
        return losses

    def _gradients(self, taken: Sequences, step: int) -> float:
        """Add up the gradients of a step's sequences, and change the weights. Returns the loss."""
        import torch

        own = self._settings
        torch.manual_seed(np.random.default_rng([own.seed, step]).integers(1 << 62))
        taken, targets, whole = self._given(taken, step)
        self._optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for start in range(0, len(taken.tokens), self._micro):  # what is computed at once
            part = slice(start, start + self._micro)
            loss = self._loss(taken, targets, part) / max(whole, 1e-9)
            loss.backward()
            total += float(loss.detach())
        weights = checkpoint.trained(self._model).values()
        torch.nn.utils.clip_grad_norm_(weights, CLIP)
        for group in self._optimizer.param_groups:
            group["lr"] = rate(step, self._steps, own.warmup, own.rate)
        if math.isfinite(total):
            self._optimizer.step()
        return total

    def _given(self, taken: Sequences, step: int) -> tuple[Sequences, Any, float]:
        """What the model is given, the tokens it should say, and the weight of all targets."""
        own, targets = self._settings, taken.tokens
        if own.objective == "mlm":
            rng = np.random.default_rng([own.seed, step, 1])
            mask = self._tokens.mask_token_id
            taken = packing.masked(taken, own.masked, mask, self._words, rng)
        # Sequences of like length are computed together
        order = np.argsort(taken.lengths, kind="stable")
        taken = Sequences(taken.tokens[order], taken.weights[order], taken.lengths[order])
        whole = float(taken.weights[:, int(own.objective == "causal") :].sum())
        return taken, targets[order], whole

    def _loss(self, taken: Sequences, targets: Any, part: slice) -> Any:
        """Weighted sum of the cross-entropies of some sequences."""
        import torch
        from torch.nn.functional import cross_entropy

        longest = int(taken.lengths[part].max())

        def moved(array: Any) -> Any:
            return torch.from_numpy(np.ascontiguousarray(array[part, :longest])).to(self._device)

        tokens, wanted = moved(taken.tokens).long(), moved(targets).long()
        weights = moved(taken.weights)
        here = torch.arange(longest, device=self._device)[None] < torch.from_numpy(
            taken.lengths[part, None]
        ).to(self._device)
        mask = None if bool(here.all()) else here.long()
        if self._settings.objective == "causal":
            wanted, weights = wanted.roll(-1, 1), weights.roll(-1, 1)
            weights[:, -1] = 0
        # The head, a fifth of a small model's weights, computes only what is learnt
        learnt = weights != 0
        head = self._model.get_output_embeddings()
        with head.register_forward_pre_hook(lambda _, given: (given[0][learnt],)):
            logits = self._model(input_ids=tokens, attention_mask=mask).logits
        each = cross_entropy(logits.float(), wanted[learnt], reduction="none")
        return (each * weights[learnt]).sum()

    def save(self, folder: Path) -> None:
        """Save the adapter or the whole model, and the tokenizer. Raises OSError."""
        model = self._model
        if self._settings.rank and self._settings.merge:
            model = model.merge_and_unload()
        model.save_pretrained(folder)
        self._tokens.save_pretrained(folder)


def _sizes(model: Any) -> tuple[int, int]:
    """How many parameters a model has, and how many of them learn."""
    every = model.parameters(), checkpoint.trained(model).values()
    whole, learning = (sum(each.numel() for each in own) for own in every)
    return whole, learning


def set_dropout(model: Any, share: float) -> None:
    """Set the dropout of all layers, which Webster et al. (2020) raise against bias.

    The model's configuration stays as it is.
    """
    from torch import nn

    found = False
    for each in model.modules():
        if isinstance(each, nn.Dropout):
            each.p, found = share, True
        if isinstance(getattr(each, "attention_dropout", None), float):  # llama and its kin
            setattr(each, "attention_dropout", share)  # noqa: B010 (a module's own number)
            found = True
    if not found:
        raise TrainInputError("model_dropout: this model has no dropout")


def rate(step: int, steps: int, warmup: int, highest: float) -> float:
    """The learning rate of a step: it rises linearly from 0, then falls linearly to 0."""
    rise = min(warmup, steps - 1)
    if step < rise:
        return highest * (step + 1) / (rise + 1)
    return highest * (steps - step) / max(steps - rise, 1)
