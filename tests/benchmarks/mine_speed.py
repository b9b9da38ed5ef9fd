"""Speed of mining beside a plain loop of transformers, and whether the ranking is the same.

    python tests/benchmarks/mine_speed.py build/models/bert-base-uncased [--sentences 300]

The plain loop gives the model one sentence after the other. It takes the same sentences, masks and
words, and the same threads. Seconds are those of the processor, so that other work on the machine
counts less; loading is not among them.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from rich.console import Console
from rich.table import Table
from scipy import stats

from evenflow.transforms.lab.language_models.masked import MaskedModel
from evenflow.transforms.lab.masking.scoring import MaskedScorer
from evenflow.transforms.lab.masking.sentences import Sentence, SentenceFinder
from evenflow.transforms.models import loading
from evenflow.wordlists import loader

SPEECHES = Path(__file__).parents[1] / "data" / "speeches.jsonl.gz"


def plain(model: MaskedModel, sentences: list[Sentence]) -> list[float]:
    """The mean difference of each sentence, one after the other."""
    tokenizer, network = model.loaded.tokenizer, model.loaded.model
    found: list[float] = []
    for sentence in sentences:
        text, at = "", 0
        for word in sentence.words:
            text += sentence.text[at : word.start] + tokenizer.mask_token
            at = word.end
        given = tokenizer(text + sentence.text[at:], return_tensors="pt")
        with torch.no_grad():
            logs = torch.log_softmax(network(**given).logits[0], -1)
        places = (given["input_ids"][0] == tokenizer.mask_token_id).nonzero()[:, 0]
        differences = []
        for place, word in zip(places, sentence.words, strict=True):
            forms = {word.group: sentence.text[word.start : word.end], **word.counterparts}
            ids = [tokenizer.encode(forms[g], add_special_tokens=False) for g in ("female", "male")]
            differences.append(float(logs[place, ids[0][0]] - logs[place, ids[1][0]]))
        found.append(float(np.mean(differences)))
    return found


def spearman(one: Any, other: Any) -> str:
    """Spearman's correlation, as text."""
    found: Any = stats.spearmanr(one, other)
    return f"{found.statistic:.4f}"


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("model")
    parser.add_argument("--sentences", type=int, default=300)
    parser.add_argument("--threads", type=int, default=1)
    own = parser.parse_args()
    torch.set_num_threads(own.threads)
    words = loader.load("gender")
    finder = SentenceFinder(words)
    model = MaskedModel(loading.load(own.model))
    with gzip.open(SPEECHES, "rt", encoding="utf-8") as file:
        every = {s.text: s for line in file for s in finder.find(json.loads(line)["text"])}
    # Those that all of the rows can score: each word has one token, and none is even already
    tokens: dict[str, bool] = {}

    def simple(sentence: Sentence) -> bool:
        forms = [
            form
            for word in sentence.words
            for form in (sentence.text[word.start : word.end], *word.counterparts.values())
        ]
        for form in forms:
            tokens.setdefault(form, len(model.pieces(form)) == 1)
        return all(map(tokens.__getitem__, forms)) and all(
            word.counterparts and not word.even for word in sentence.words
        )

    usable = [sentence for sentence in every.values() if simple(sentence)]
    given = random.Random(0).sample(usable, min(own.sentences, len(usable)))

    def ours() -> list[float]:
        return [own[0].mean for own in MaskedScorer(model, words.groups).score(given)]

    rows = [
        ("transformers, one by one", lambda: plain(model, given)),
        ("evenflow lab mine, 32 bits", ours),
    ]
    table = Table("", "CPU seconds", "sentences/s", "times", "Spearman, mean", "Spearman, score")
    first: tuple[float, list[float]] | None = None
    for name, function in rows:
        began = time.process_time()
        values = function()
        seconds = time.process_time() - began
        first = first or (seconds, values)
        table.add_row(
            name,
            f"{seconds:.1f}",
            f"{len(given) / seconds:.1f}",
            f"{first[0] / seconds:.2f}",
            spearman(first[1], values),
            spearman(np.abs(first[1]), np.abs(values)),
        )
    Console(width=100).print(f"{len(given)} sentences, {own.threads} thread(s)", table)


if __name__ == "__main__":
    main()
