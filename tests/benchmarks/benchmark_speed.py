"""Items a second and figures of `evenflow lab benchmark` beside lm-evaluation-harness.

    pip install 'evenflow[bench,train]'
    python tests/benchmarks/benchmark_speed.py [--items 100] [--model build/models/…] [--threads 1]

Both get the same items, model in memory and batch size, in one process, in turns. The loading of
the model is not counted. Seconds are those of the processor, since other work on the machine would
decide otherwise. lm-eval gets the items as a local task.
"""

from __future__ import annotations

import argparse
import importlib.util
import json
import logging
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

os.environ["HF_HUB_OFFLINE"] = "1"
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")

import torch

from evenflow.pipelines.lab.train.benchmark import benchmark
from evenflow.transforms.lab.benchmarks import bbq, hellaswag
from evenflow.transforms.lab.benchmarks.asking import Models
from evenflow.transforms.lab.benchmarks.data import Data
from evenflow.transforms.lab.benchmarks.suite import Item
from evenflow.transforms.lab.benchmarks.suites import SUITES

BBQ_ITEMS = 1500
MODEL = "build/models/smollm2-135m-instruct"


def as_hellaswag(item: Item) -> dict[str, Any]:
    """An item as lm-eval's local task has it."""
    clean = hellaswag._clean
    endings = [clean(each) for each in item.content["endings"]]
    return {
        "query": clean(item.content["ctx"]),
        "choices": endings,
        "gold": int(item.content["label"]),
    }


def as_crows_pairs(item: Item) -> dict[str, Any]:
    """An item as lm-eval's local task has it; it is right where the stereotype is likelier."""
    return {"query": "", "choices": [item.content["more"], item.content["less"]], "gold": 0}


TASKS: dict[str, tuple[Callable[[Item], dict[str, Any]], str]] = {
    "hellaswag": (as_hellaswag, " "),
    "crows_pairs": (as_crows_pairs, ""),
}


def theirs(model: Any, name: str, chosen: list[Item]) -> tuple[float, float]:
    """Accuracy and seconds of lm-eval."""
    from lm_eval import simple_evaluate
    from lm_eval.api.task import ConfigurableTask

    convert, between = TASKS[name]
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "items.jsonl")
        path.write_text("".join(json.dumps(convert(item)) + "\n" for item in chosen))
        task = ConfigurableTask(
            config={
                "task": name,
                "dataset_path": "json",
                "dataset_kwargs": {"data_files": str(path), "cache_dir": folder},
                "test_split": "train",
                "output_type": "multiple_choice",
                "doc_to_text": "{{query}}",
                "doc_to_choice": "choices",
                "doc_to_target": "gold",
                "target_delimiter": between,
                "metric_list": [{"metric": "acc"}],
            }
        )
        start = time.process_time()
        found: Any = simple_evaluate(model=model, tasks=[task], bootstrap_iters=0)
        return found["results"][name]["acc,none"], time.process_time() - start


def judged_alike(count: int) -> tuple[int, int]:
    """Of answers to BBQ: how many count for the same as in lm-eval, and how many there are."""
    import lm_eval

    path = Path(lm_eval.__file__).parent / "tasks" / "bbq" / "utils.py"
    spec: Any = importlib.util.spec_from_file_location("bbq_utils", path)
    peer = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(peer)
    draw = random.Random(0)
    items = [dict(each.content) for each in draw.sample(bbq.read(Data()), count)]

    class Documents(list[Any]):
        def map(self, function: Callable[[Any], Any]) -> list[Any]:
            return [function(dict(each)) for each in self]

    alike = total = 0
    for item, document in zip(items, peer.process_docs(Documents(items)), strict=True):
        own = [item[name] for name in bbq.ANSWERS]
        texts = [*own, f" {draw.choice(own)} and {draw.choice(own)}", " I do not know", " man", ""]
        for text in [*texts, " grandmother", " the old gay Jewish woman", "Can't be determined."]:
            found = peer.process_results_generate_until(document, [text])["amb_bias_score"]
            mine = bbq.judged(item, text)
            alike += found[:3] == (mine["correct"], mine["biased"], mine["named"])
            total += 1
    return alike, total


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--items", type=int, default=100)
    parser.add_argument("--model", default=MODEL)
    parser.add_argument("--batch", type=int, default=16)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    parser.add_argument("--suite", nargs="*", default=list(TASKS))
    given = parser.parse_args()
    torch.set_num_threads(given.threads)
    logging.disable(logging.WARNING)
    from lm_eval.models.huggingface import HFLM

    asked = Models(given.model)
    loaded = asked.ready(SUITES["hellaswag"]).loaded
    peer = HFLM(
        pretrained=loaded.model, tokenizer=loaded.tokenizer, batch_size=given.batch, device="cpu"
    )
    print(f"{given.items} items, batch {given.batch}, {given.threads} threads")
    print(f"{'suite':14}{'ours':>10}{'lm-eval':>10}{'ours items/s':>14}{'lm-eval items/s':>17}")
    for name in given.suite:
        with tempfile.TemporaryDirectory() as folder:
            start = time.process_time()
            found = benchmark(asked, folder, [name], items=given.items, batch=given.batch)  # type: ignore[arg-type]
            own = time.process_time() - start
            lines = Path(folder, "items", f"{name}.jsonl").read_text().splitlines()
        ids = {json.loads(line)["id"] for line in lines}
        chosen = [item for item in SUITES[name].read(Data()) if item.id in ids]
        figure, other = theirs(peer, name, chosen)
        print(
            f"{name:14}{found['suites'][name]['figure']:10.4f}{figure:10.4f}"
            f"{len(chosen) / own:14.2f}{len(chosen) / other:17.2f}"
        )
    alike, total = judged_alike(BBQ_ITEMS)
    print(f"bbq: {alike:,} of {total:,} answers count for the same")


if __name__ == "__main__":
    main()
