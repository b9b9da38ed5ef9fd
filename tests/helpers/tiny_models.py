"""Tiny models with random weights, a tokenizer of words, and outputs of a gate to train on."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from pane_entries import pane_entry

from evenflow.gates.ledger.files import write_entry, write_meta
from evenflow.schemas.config import Config
from evenflow.schemas.ledger import Shard

WORDS = "she he her his said that the was a an old young man woman nurse doctor is in and . ,"
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "[EOS]"]
SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "max_position_embeddings": 64,
}
# A training that takes seconds
SMALL = {"batch": 4, "micro_batch": 2, "context": 16, "threads": 1, "rate": 0.02, "steps": 6}


def tiny_model(folder: Path, kind: str = "llama", **sizes: Any) -> Path:
    """A llama, or a bert with its head, of some kB."""
    import torch
    import transformers
    from tokenizers import Tokenizer, models, pre_tokenizers

    vocabulary = {word: number for number, word in enumerate([*SPECIAL, *WORDS.split()])}
    tokenizer = Tokenizer(models.WordLevel(vocabulary, "[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer,
        pad_token="[PAD]",
        unk_token="[UNK]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
        eos_token="[EOS]",
    )
    fast.save_pretrained(folder)
    torch.manual_seed(0)
    own = {"vocab_size": len(vocabulary), **SIZES, **sizes}
    if kind == "llama":
        made = transformers.LlamaForCausalLM(
            transformers.LlamaConfig(**own, bos_token_id=5, eos_token_id=5, pad_token_id=0)
        )
    else:
        made = transformers.BertForMaskedLM(transformers.BertConfig(**own, pad_token_id=0))
    made.save_pretrained(folder)
    return folder


def gate_output(
    folder: Path,
    panes: Sequence[Sequence[str]],
    quarantined: Sequence[int] = (),
    **columns: Sequence[Sequence[Any]],
) -> Path:
    """The shards and the ledger of a gate with the texts of each pane; further columns by pane.
    With a column `weight` the gate weighed its documents.
    """
    config = Config.model_validate({"repair": {"mode": "weight"}} if "weight" in columns else {})
    write_meta(folder, {"configuration": config.model_dump(), "finished": True})
    for number, texts in enumerate(panes):
        place = "quarantine" if number in quarantined else "accepted"
        shards = []
        if texts:
            table = pa.table(
                {
                    "id": [f"{number}-{row}" for row in range(len(texts))],
                    "text": list(texts),
                    **{name: list(each[number]) for name, each in columns.items()},
                }
            )
            path = folder / place / f"part-{number:08d}-0000.parquet"
            path.parent.mkdir(parents=True, exist_ok=True)
            pq.write_table(table, path)
            digest = hashlib.sha256(path.read_bytes()).hexdigest()
            shards = [
                Shard(name=path.name, rows=len(texts), bytes=path.stat().st_size, sha256=digest)
            ]
        write_entry(folder, pane_entry(number, folder=place, shards=shards, documents=len(texts)))
    return folder
