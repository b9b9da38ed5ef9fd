"""Tokens a second of `evenflow lab finetune` beside the Trainer of transformers, on equal data:

    python tests/benchmarks/finetune_speed.py MODEL [--steps 4] [--batch 2] [--context 128]

Both train LoRA with the same settings, in turns, three times each. The time is that of the steps:
loading is left out. On a shared machine, the CPU time is the better figure.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from statistics import median
from typing import Any

import torch
import transformers
from peft import LoraConfig, get_peft_model

from evenflow.pipelines.lab.train import packing
from evenflow.pipelines.lab.train.packing import Corpus, Document
from evenflow.pipelines.lab.train.trainer import TARGETS, Trainer
from evenflow.schemas.config.finetune import FinetuneSettings
from evenflow.transforms.models import loading


def corpus(tokens: Any, context: int, sequences: int) -> Corpus:
    """Sequences of plain words."""
    text = "The president spoke to the people of the states about their work and its worth. "
    own = tokens(text * (context // 8), add_special_tokens=False)["input_ids"]
    documents = [Document(str(n), own[n % 7 :][:context], 1.0) for n in range(sequences)]
    return packing.packed(documents, context, tokens.eos_token_id)


def ours(folder: Path, settings: FinetuneSettings, given: Corpus) -> tuple[float, float]:
    """Seconds by the clock and of the CPU."""
    tokens = transformers.AutoTokenizer.from_pretrained(folder)
    trainer = Trainer(folder, tokens, settings, settings.context, settings.steps or 1)
    with tempfile.TemporaryDirectory() as output:
        began = time.perf_counter(), time.process_time()
        trainer.train(given, Path(output), lambda progress: None)
        return time.perf_counter() - began[0], time.process_time() - began[1]


def theirs(folder: Path, settings: FinetuneSettings, given: Corpus) -> tuple[float, float]:
    """The same with the Trainer."""
    cuda = torch.cuda.is_available()
    model = transformers.AutoModelForCausalLM.from_pretrained(
        folder, dtype=torch.bfloat16 if cuda else torch.float32
    )
    lora = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        target_modules=TARGETS["causal"],
        task_type="CAUSAL_LM",
    )
    rows = [
        {"input_ids": row, "labels": row}
        for step in range(settings.steps or 1)
        for row in torch.from_numpy(given.take(step, settings.batch, settings.seed).tokens).long()
    ]
    with tempfile.TemporaryDirectory() as output:
        arguments = transformers.TrainingArguments(
            output,
            per_device_train_batch_size=settings.micro_batch,
            gradient_accumulation_steps=settings.batch // settings.micro_batch,
            max_steps=settings.steps or 1,
            learning_rate=settings.rate,
            weight_decay=settings.weight_decay,
            warmup_steps=settings.warmup,
            report_to=[],
            save_strategy="no",
            disable_tqdm=True,
            logging_strategy="no",
            dataloader_num_workers=0,
        )
        trainer = transformers.Trainer(
            model=get_peft_model(model, lora), args=arguments, train_dataset=rows
        )
        began = time.perf_counter(), time.process_time()
        trainer.train()
        return time.perf_counter() - began[0], time.process_time() - began[1]


def main() -> None:
    """Measure, and print a table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model")
    for name, value in (
        ("steps", 4),
        ("batch", 2),
        ("micro-batch", 1),
        ("context", 128),
        ("rounds", 3),
        ("threads", 1),
    ):
        parser.add_argument(f"--{name}", type=int, default=value)
    own = parser.parse_args()
    torch.set_num_threads(own.threads)
    folder = loading.folder_of(own.model)
    settings = FinetuneSettings(
        steps=own.steps,
        batch=own.batch,
        micro_batch=own.micro_batch,
        context=own.context,
        threads=own.threads,
        checkpoint_steps=1_000_000,
    )
    given = corpus(
        transformers.AutoTokenizer.from_pretrained(folder), own.context, own.steps * own.batch
    )
    tokens = own.steps * own.batch * own.context
    found: dict[str, list[tuple[float, float]]] = {"evenflow": [], "Trainer": []}
    for _ in range(own.rounds):
        found["evenflow"].append(ours(folder, settings, given))
        found["Trainer"].append(theirs(folder, settings, given))
    rates = {
        name: [tokens / median(each[i] for each in times) for i in (0, 1)]
        for name, times in found.items()
    }
    print(f"{tokens} tokens, median of {own.rounds} rounds")
    print("             tokens/s   tokens/s of CPU time")
    for name, (wall, cpu) in rates.items():
        print(f"{name:12} {wall:8.1f}   {cpu:8.1f}")
    share = [rates["evenflow"][i] / rates["Trainer"][i] for i in (0, 1)]
    print(f"{'share':12} {share[0]:8.2f}   {share[1]:8.2f}")


if __name__ == "__main__":
    main()
