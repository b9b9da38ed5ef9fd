"""Fine-tunes a model on documents that a gate accepted.

The order of the data, the rate, masks and dropout are functions of the seed and the step, so that a
run which was killed goes on from its checkpoint and ends, on a CPU, with the same bytes.

1. settings.json says what is trained on what. Another run into the folder must say the same.
2. checkpoint.safetensors is replaced every so many steps.
3. The adapter, or with rank 0 or merge the whole model, and the tokenizer are saved.
4. training.json is written: the run is finished. The checkpoint is removed.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from evenflow.gates.ledger.files import canonical
from evenflow.gates.lock import OutputLock
from evenflow.pipelines.lab.train import checkpoint, packing
from evenflow.pipelines.lab.train.errors import TrainInputError, refuse_other
from evenflow.pipelines.lab.train.packing import Corpus, Document
from evenflow.pipelines.lab.train.rows import Data, Listed
from evenflow.pipelines.lab.train.trainer import KINDS, Progress, Trainer
from evenflow.schemas.config.finetune import FinetuneSettings
from evenflow.transforms.models import loading
from evenflow.transforms.storage.directory import Directory

BEGUN, DONE = "settings.json", "training.json"
# Other values of these give the same result
FREE = {"checkpoint_steps", "threads", "epochs", "steps", "window", "replay"}


def finetune(
    data: Data | Listed,
    model: str,
    output: Path,
    settings: FinetuneSettings,
    on_step: Callable[[Progress], None] = lambda progress: None,
    adapter: Path | None = None,
) -> dict[str, Any]:
    """Fine-tune a model; go on where an earlier call was killed, and do nothing if it was not.

    `adapter`: Folder of an adapter of the model that training starts from; None: a new one.
    """
    folder = loading.folder_of(model)
    if loading.kind_of(model) != KINDS[settings.objective]:
        raise TrainInputError(f"{folder}: this model is not for the objective {settings.objective}")
    tokens, config = _tokenizer(folder), loading.config_of(folder)
    most = getattr(config, "max_position_embeddings", None) or settings.context
    context = min(settings.context, most)
    with OutputLock(output):
        rows, corpus = _read(data, tokens, settings, context)
        steps = settings.steps or math.ceil(settings.epochs * len(corpus) / settings.batch)
        record = {
            "data": {**data.record(), **rows, "sequences": len(corpus)},
            "model": loading.digest(model),
            "settings": {**settings.model_dump(exclude=FREE), "context": context, "steps": steps},
        }
        if adapter is not None:
            record["adapter"] = loading.digest(model, str(adapter))
        if (done := _done(output, record)) is not None:
            return done
        trainer = Trainer(folder, tokens, settings, context, steps, adapter)
        Directory(output).write(BEGUN, canonical(record))
        losses = trainer.train(corpus, output, on_step)
        trainer.save(output)
        made = {**record, **trainer.facts, "losses": losses}
        Directory(output).write(DONE, canonical(made))
        _clear(output)
        return made


def _tokenizer(folder: Path) -> Any:
    """The tokenizer of a model. Raises LanguageModelError."""
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise loading.LanguageModelError(f"{folder}: its tokenizer cannot be read") from error


def _done(output: Path, record: dict[str, Any]) -> dict[str, Any] | None:
    """What training.json holds if this was done before. Raises TrainInputError."""
    storage = Directory(output)
    with suppress(FileNotFoundError):
        refuse_other(output, storage.read(BEGUN), record)
        done = json.loads(storage.read(DONE))
        _clear(output)
        return done
    return None


def _clear(output: Path) -> None:
    """Remove the checkpoint of a finished run, and what a kill left of others."""
    for path in (output / checkpoint.NAME, *output.glob(".*.part")):
        path.unlink(missing_ok=True)


def _read(
    data: Data | Listed, tokens: Any, settings: FinetuneSettings, context: int
) -> tuple[dict[str, int], Corpus]:
    """Counts, and tokens to train on. Raises TrainInputError, OSError."""
    focus = settings.focus
    seen = {"documents": 0, "copies": 0, "weighted": 0, "tokens": 0, "longer": 0}

    def documents() -> Iterator[Document]:
        for row in data.rows(focus):
            offsets = focus is not None
            given = tokens(
                row.text, add_special_tokens=False, return_offsets_mapping=offsets, verbose=False
            )
            own = given["input_ids"]
            seen["documents"] += 1
            seen["copies"] += row.is_copy
            seen["weighted"] += row.weight != 1
            seen["tokens"] += len(own)
            seen["longer"] += len(own) > context
            learnt = focus and [
                any(start < last and first < end for first, last in row.spans)
                for start, end in given["offset_mapping"]
            ]
            weight = 1.0 if settings.weights == "off" else row.weight
            yield Document(row.id, own, weight, learnt or None)

    end = tokens.eos_token_id
    pad = tokens.pad_token_id if tokens.pad_token_id is not None else end
    ends = (tokens.cls_token_id, tokens.sep_token_id, tokens.mask_token_id)
    if settings.objective == "mlm" and None in ends:
        raise TrainInputError("mlm needs a tokenizer with the tokens CLS, SEP and MASK")
    if settings.objective == "causal" and end is None:
        raise TrainInputError("the tokenizer has no end-of-text token")

    if settings.objective == "mlm":
        found = packing.apart(documents(), context, pad, ends[:1], ends[1:2])
    elif settings.packing and focus is None:
        found = packing.packed(documents(), context, end)
    else:
        found = packing.apart(documents(), context, pad)
    if not found.weights.any():
        raise TrainInputError(f"{data.output}: no token to train on in its accepted documents")
    return seen, found


def described(losses: Sequence[float], most: int = 5) -> str:
    """The mean loss of the first steps and of the last ones, for people."""
    few = min(most, len(losses))
    first, last = (sum(part) / few for part in (losses[:few], losses[-few:]))
    return f"loss {first:.3f} in the first {few} steps, {last:.3f} in the last {few}"
