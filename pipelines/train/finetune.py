"""Fine-tunes a model on documents that a gate accepted.

The order of the data, the rate, masks and dropout are functions of the seed and the step, so that a
run which was killed goes on from its checkpoint and ends, on a CPU, with the same bytes.

1. settings.json says what is trained on what. Another run into the folder must say the same.
2. checkpoint.safetensors is replaced every so many steps.
3. The adapter, or with rank 0 the whole model, and the tokenizer are saved.
4. training.json is written: the run is finished. The checkpoint is removed.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from evenflow.gates.ledger.files import canonical, changed_settings
from evenflow.gates.lock import OutputLock
from evenflow.pipelines.train import checkpoint, loading, memory, packing
from evenflow.pipelines.train.errors import TrainingError, TrainInputError
from evenflow.pipelines.train.packing import Corpus, Document, Sequences
from evenflow.pipelines.train.rows import Data, Row
from evenflow.schemas.finetune_section import FinetuneSettings
from evenflow.transforms.storage.directory import Directory

BEGUN, DONE = "settings.json", "training.json"
TARGETS = {
    "causal": ["q_proj", "k_proj", "v_proj", "o_proj", "gate_proj", "up_proj", "down_proj"],
    "mlm": ["query", "key", "value", "dense"],
}
# Other values of these give the same result
FREE = {"checkpoint_steps", "threads", "epochs", "steps"}


@dataclass(frozen=True)
class Progress:
    """How far training is.

    Attributes:
        step: Steps that are done.
        steps: Steps in all.
        loss: Loss of the last one.
        rate: Tokens a second.
        left: Seconds that are left.
    """

    step: int
    steps: int
    loss: float
    rate: float
    left: float


def finetune(
    data: Data,
    model: str,
    output: Path,
    settings: FinetuneSettings,
    on_step: Callable[[Progress], None] = lambda progress: None,
    keep: Callable[[Row], bool] = lambda row: True,
) -> dict[str, Any]:
    """Fine-tune a model; go on where an earlier call was killed, and do nothing if it was not.

    Args:
        data: What to train on.
        model: Folder of the model, or its name.
        output: Folder of the adapter, the tokenizer and training.json.
        settings: How to train.
        on_step: Called after each step.
        keep: Which documents are trained on.

    Returns:
        What training.json holds.

    Raises:
        TrainInputError: The data, the model or the settings cannot be used.
        TrainingError: The loss is no number, or the memory does not suffice.
        LockedError: Another process trains into this folder.
        OSError: A file cannot be read or written.
    """
    folder = loading.folder_of(model)
    tokens = loading.tokenizer(folder)
    config = loading.settings(folder, settings.objective)
    context = min(settings.context, getattr(config, "max_position_embeddings", settings.context))
    with OutputLock(output):
        rows, corpus = _read(data, tokens, settings, context, keep)
        steps = settings.steps or math.ceil(settings.epochs * len(corpus) / settings.batch)
        record = {
            "data": {**data.record(), **rows, "sequences": len(corpus)},
            "model": loading.digests(folder),
            "settings": {**settings.model_dump(exclude=FREE), "context": context, "steps": steps},
        }
        if (done := _done(output, record)) is not None:
            return done
        trainer = _Trainer(folder, config, tokens, settings, context, steps)
        Directory(output).write(BEGUN, canonical(record))
        losses = trainer.train(corpus, output, on_step)
        trainer.save(output)
        made = {**record, **trainer.facts, "losses": losses}
        Directory(output).write(DONE, canonical(made))
        _clear(output)
        return made


def _done(output: Path, record: dict[str, Any]) -> dict[str, Any] | None:
    """What training.json holds if this was done before. Raises TrainInputError."""
    storage, now = Directory(output), json.loads(canonical(record))
    with suppress(FileNotFoundError):
        if changed := changed_settings(json.loads(storage.read(BEGUN)), now):
            raise TrainInputError(
                f"{output} was begun with other data or settings:\n  " + "\n  ".join(changed[:20])
            )
        done = json.loads(storage.read(DONE))
        _clear(output)
        return done
    return None


def _clear(output: Path) -> None:
    """Remove the checkpoint of a finished run, and what a kill left of others."""
    for path in (output / checkpoint.NAME, *output.glob(".*.part")):
        path.unlink(missing_ok=True)


def _read(
    data: Data,
    tokens: Any,
    settings: FinetuneSettings,
    context: int,
    keep: Callable[[Row], bool],
) -> tuple[dict[str, int], Corpus]:
    """Tokens of the documents, and their number. Raises TrainInputError, OSError."""
    seen = {"documents": 0, "copies": 0, "weighted": 0, "tokens": 0, "longer": 0}

    def documents() -> Iterator[Document]:
        for row in filter(keep, data.rows()):
            own = tokens(row.text, add_special_tokens=False, verbose=False)["input_ids"]
            seen["documents"] += 1
            seen["copies"] += row.is_copy
            seen["weighted"] += row.weight != 1
            seen["tokens"] += len(own)
            seen["longer"] += len(own) > context
            yield Document(row.id, own, row.weight if settings.weights else 1.0)

    end = tokens.eos_token_id
    pad = tokens.pad_token_id if tokens.pad_token_id is not None else end
    if settings.objective == "mlm":
        ends = (tokens.cls_token_id, tokens.sep_token_id, tokens.mask_token_id)
        if None in ends:
            raise TrainInputError("mlm needs a tokenizer with the tokens CLS, SEP and MASK")
        found = packing.apart(documents(), context, pad, ends[:1], ends[1:2])
    elif end is None:
        raise TrainInputError("the tokenizer has no end-of-text token")
    elif settings.packing:
        found = packing.packed(documents(), context, end)
    else:
        found = packing.apart(documents(), context, pad)
    if not found.weights.any():
        raise TrainInputError(f"{data.output}: no token to train on in its accepted documents")
    return seen, found


class _Trainer:
    """A model with its optimizer.

    Attributes:
        facts: What training.json says of the training.
    """

    def __init__(
        self,
        folder: Path,
        config: Any,
        tokens: Any,
        settings: FinetuneSettings,
        context: int,
        steps: int,
    ):
        """Load a model for training. Raises TrainInputError, TrainingError."""
        import torch

        self._settings, self._tokens, self._steps = settings, tokens, steps
        self._micro = min(settings.micro_batch, settings.batch)
        self._cuda = torch.cuda.is_available()
        self._device = "cuda" if self._cuda else "cpu"
        dtype = torch.bfloat16 if self._cuda and settings.rank else torch.float32
        if settings.threads:
            torch.set_num_threads(settings.threads)
        self._check_memory(folder, config, context, dtype)
        model = loading.weights(folder, settings.objective, config, dtype)
        words = model.get_input_embeddings().weight.shape[0]
        if len(tokens) > words:
            raise TrainInputError(
                f"{folder}: the tokenizer has {len(tokens)} tokens and the model {words}; they do"
                " not belong together"
            )
        self._words = words
        torch.manual_seed(settings.seed)
        self._model: Any = self._lora(model, folder).to(self._device)
        self._model.train()
        self._optimizer, name = self._adamw()
        self.facts: dict[str, Any] = {
            "optimizer": name,
            "device": self._device,
            "parameters": sum(each.numel() for each in self._model.parameters()),
            "trained": sum(each.numel() for each in checkpoint.trained(self._model).values()),
        }

    def _check_memory(self, folder: Path, config: Any, context: int, dtype: Any) -> None:
        """Refuse a model that the memory does not suffice for. Raises TrainInputError."""
        import torch
        import transformers

        with torch.device("meta"):
            kind = getattr(transformers, loading.CLASSES[self._settings.objective])
            empty = self._lora(kind.from_config(config), folder)
        size = memory.Size(
            parameters=sum(each.numel() for each in empty.parameters()),
            trained=sum(each.numel() for each in checkpoint.trained(empty).values()),
            layers=config.num_hidden_layers,
            width=config.hidden_size,
            vocabulary=config.vocab_size,
            word=dtype.itemsize,
        )
        room = torch.cuda.mem_get_info()[0] if self._cuda else memory.available()
        need = memory.estimate(size, self._micro * context)
        if why := memory.refusal(need, room, self._micro, context):
            raise TrainInputError(why)

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

    def _adamw(self) -> tuple[Any, str]:
        """AdamW over what is trained, in 8 bits where a GPU has it; and its name."""
        import torch

        own = self._settings
        weights = list(checkpoint.trained(self._model).values())
        options = {"lr": own.rate, "weight_decay": own.weight_decay}
        if self._cuda:
            with suppress(ImportError):
                from bitsandbytes.optim import AdamW8bit  # pyright: ignore[reportMissingImports]

                return AdamW8bit(weights, **options), "AdamW, 8 bits"
        return torch.optim.AdamW(weights, **options), "AdamW"

    def train(
        self, corpus: Corpus, output: Path, on_step: Callable[[Progress], None]
    ) -> list[float]:
        """Train to the last step. Returns the loss of each. Raises TrainingError, OSError."""
        facts = checkpoint.load(output, self._model, self._optimizer) or {"losses": []}
        losses: list[float] = facts["losses"]
        first, began, tokens = len(losses), time.perf_counter(), 0
        for step in range(first, self._steps):
            taken = corpus.take(step, self._settings.batch, self._settings.seed)
            loss = self._step(taken, step)
            if not math.isfinite(loss):
                raise TrainingError(self._diverged(output, step, loss, len(losses)))
            losses.append(loss)
            if len(losses) % self._settings.checkpoint_steps == 0:
                checkpoint.save(output, self._model, self._optimizer, {"losses": losses})
            tokens += int(taken.lengths.sum())
            seconds = time.perf_counter() - began
            left = seconds / (step + 1 - first) * (self._steps - step - 1)
            on_step(Progress(step + 1, self._steps, loss, tokens / seconds, left))
        return losses

    def _diverged(self, output: Path, step: int, loss: float, done: int) -> str:
        """Save the last good state, and say so."""
        kept = done - done % self._settings.checkpoint_steps
        where = "there is no checkpoint yet"
        if checkpoint.load(output, self._model, self._optimizer) is not None:
            self.save(output / "last-good")
            where = f"the model after step {kept} is in {output / 'last-good'}"
        return (
            f"the loss of step {step + 1} is {loss}; {where}. Give a lower --rate and another"
            " --output"
        )

    def _step(self, taken: Sequences, step: int) -> float:
        """Take a step; where a GPU's memory does not suffice, with half as much at once."""
        import torch

        try:
            return self._gradients(taken, step)
        except torch.OutOfMemoryError as error:
            if self._micro == 1 or "halved" in self.facts:
                raise TrainingError(
                    f"the GPU's memory does not suffice for {self._micro} sequences at once; give"
                    " a smaller --micro-batch or --context"
                ) from error
            self._micro, self.facts["halved"] = self._micro // 2, self._micro
            torch.cuda.empty_cache()
            return self._step(taken, step)

    def _gradients(self, taken: Sequences, step: int) -> float:
        """Add up the gradients of a step's sequences, and change the weights. Returns the loss."""
        import torch

        own = self._settings
        torch.manual_seed(np.random.default_rng([own.seed, step]).integers(1 << 62))
        targets = taken
        if own.objective == "mlm":
            rng = np.random.default_rng([own.seed, step, 1])
            mask = self._tokens.mask_token_id
            taken = packing.masked(taken, own.masked, mask, self._words, rng)
        whole = float(taken.weights[:, int(own.objective == "causal") :].sum())
        self._optimizer.zero_grad(set_to_none=True)
        total = 0.0
        for start in range(0, len(taken.tokens), self._micro):
            part = slice(start, start + self._micro)
            loss = self._loss(taken, targets.tokens, part) / max(whole, 1e-9)
            loss.backward()
            total += float(loss.detach())
        if own.clip is not None:
            weights = checkpoint.trained(self._model).values()
            torch.nn.utils.clip_grad_norm_(weights, own.clip)
        for group in self._optimizer.param_groups:
            group["lr"] = rate(step, self._steps, own.warmup, own.rate)
        if math.isfinite(total):
            self._optimizer.step()
        return total

    def _loss(self, taken: Sequences, targets: Any, part: slice) -> Any:
        """Weighted sum of the cross-entropies of some sequences."""
        import torch
        from torch.nn.functional import cross_entropy

        longest = int(taken.lengths[part].max())

        def moved(array: Any) -> Any:
            return torch.from_numpy(np.ascontiguousarray(array[part, :longest])).to(self._device)

        tokens, weights, wanted = (
            moved(taken.tokens).long(),
            moved(taken.weights),
            moved(targets).long(),
        )
        here = torch.arange(longest, device=self._device)[None] < torch.from_numpy(
            taken.lengths[part, None]
        ).to(self._device)
        mask = None if bool(here.all()) else here.long()
        logits = self._model(input_ids=tokens, attention_mask=mask).logits
        if self._settings.objective == "causal":
            logits, wanted, weights = logits[:, :-1], wanted[:, 1:], weights[:, 1:]
        each = cross_entropy(logits.flatten(0, 1).float(), wanted.flatten(), reduction="none")
        return (each * weights.flatten()).sum()

    def save(self, folder: Path) -> None:
        """Save the adapter or the model, and the tokenizer. Raises OSError."""
        self._model.save_pretrained(folder)
        self._tokens.save_pretrained(folder)


def rate(step: int, steps: int, warmup: int, highest: float) -> float:
    """The learning rate of a step: it rises linearly from 0, then falls linearly to 0.

    Args:
        step: The step, from 0.
        steps: Steps in all.
        warmup: Steps in which it rises.
        highest: The highest rate.

    Returns:
        The rate, which is above 0 in every step.
    """
    rise = min(warmup, steps - 1)
    if step < rise:
        return highest * (step + 1) / (rise + 1)
    return highest * (steps - step) / max(steps - rise, 1)


def described(losses: Sequence[float], most: int = 5) -> str:
    """The mean loss of the first steps and of the last ones, for people."""
    few = min(most, len(losses))
    first, last = (sum(part) / few for part in (losses[:few], losses[-few:]))
    return f"loss {first:.3f} in the first {few} steps, {last:.3f} in the last {few}"
