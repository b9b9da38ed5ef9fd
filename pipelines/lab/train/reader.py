"""Trains the reader that ships.

    python -m evenflow.pipelines.lab.train.heads reader PRETRAINED FIRST --until 2619 --epochs 3
    python -m evenflow.pipelines.lab.train.heads reader PRETRAINED OUT --begin FIRST --epochs 2
    python -m evenflow.pipelines.lab.train.heads cut FOLDER

The last one only calibrates a trained reader anew and chooses its cuts; the others do so too.
PRETRAINED is build/models/minilm, which `make models` fetches. It learns from the part `train` of
the labelled documents, but for one in eight, which calibrates. What ships was trained twice: by the
documents of the first draw, then by all. With the same machine, packages and number of threads a
command writes the same weights.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import functools
import json
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy.optimize import minimize

from evenflow.pipelines.lab.train import exchange_figures
from evenflow.transforms.lab.training.head import write
from evenflow.transforms.lab.training.labelled import Labelled
from evenflow.transforms.models.static import FirstStage

UNSHOWN, SHOWN = ("gender",), ("age", "religion")  # attributes by whether it sees the new words
WEIGHTS = "trained.safetensors"  # all of a training's numbers, from which another may go on
DOCUMENTS = [Path("tests/data/documents.jsonl.gz")]
ROW = re.compile(r"\[[-\d\s.,]+\]")
FEW = 50  # right sets from which an attribute gets a calibration of its own


def train(
    pretrained: Path,
    out: Path,
    documents: list[Path] = DOCUMENTS,
    layers: int = 6,
    epochs: int = 4,
    threads: int = 2,
    until: int = 1 << 30,
    seed: int = 0,
    begin: Path | None = None,
) -> None:
    """Train, write and calibrate."""
    import torch
    from safetensors.torch import load_file, save_file

    from evenflow.transforms.lab.training import reading
    from evenflow.transforms.lab.training.export import write_reader
    from evenflow.transforms.models import encoder

    torch.set_num_threads(threads)
    torch.manual_seed(seed)
    learnt, away = parts(documents, until)
    print(f"{len(learnt)} documents to learn from, {len(away)} to calibrate by", flush=True)
    vocabulary = pretrained / encoder.VOCABULARY
    model = encoder.read_model(vocabulary)
    fresh = reading.ReaderNetwork(reading.body(pretrained, layers))
    rates = reading.RATE, reading.HEADS_RATE
    if begin is not None:
        fresh.load_state_dict(load_file(begin / WEIGHTS))
        rates = reading.AGAIN
    say = functools.partial(print, flush=True)
    reading.train(fresh, learnt, model, epochs, seed, rates, say)
    out.mkdir(parents=True, exist_ok=True)
    save_file(fresh.state_dict(), out / WEIGHTS)
    known = len({each.document for each in learnt})
    about = {"layers": layers, "epochs": epochs, "documents": known, "unshown": list(UNSHOWN)}
    write_reader(fresh, {"all": [1.0, 0.0]}, vocabulary, out, about)
    refit_first_stage(exchange_figures.Finder(FirstStage.shipped()), learnt, out)
    cut(out, documents)


def parts(documents: Sequence[Path], until: int) -> tuple[list[Labelled], list[Labelled]]:
    """Read the documents to learn from, and those that calibrate."""
    from evenflow.transforms.lab.training import labelled

    own = labelled.part(
        (each for path in documents for each in labelled.read(path)), labelled.TRAIN
    )
    away = [each for each in own if labelled.is_calibration(each.document)]
    held = {each.document for each in away}
    return [each for each in own if each.document not in held and each.number < until], away


def cut(folder: Path, documents: list[Path] = DOCUMENTS) -> None:
    """Calibrate a reader, and write from which probability on how many exchanges are right.

    All from the documents that calibrate, which it did not learn from.
    """
    from evenflow.transforms.models.reader import MANIFEST, Reader

    reader = Reader(folder)
    judge = exchange_figures.SetJudge(reader, FirstStage(folder))
    away = parts(documents, 1 << 30)[1]
    path = documents[0].parent / exchange_figures.SENTENCES
    said = exchange_figures.right_sentences(path) if path.exists() else {}
    lines: dict[str, list[float]] = reader.about["calibration"]
    judged = {each.key: each for each in judge.judge(away)}.values()
    for name in ("all", *UNSHOWN, *SHOWN):
        rows = [each for each in judged if name in ("all", each.attribute)]
        rows = [each for each in rows if min(each.whole.values()) == 1]
        if name == "all" or sum(each.right for each in rows) >= FEW:
            logits = np.array([each.logit for each in rows])
            lines[name] = platt(logits, np.array([each.right for each in rows]))
    own = {each.key: each for each in judge.judge(away)}  # by the new calibration
    whole = [(each.attribute, each.probability, each.until, each.until) for each in own.values()]
    alone = [
        (key[1], own[key].probability, float(right) or -1.0, own[key].until)
        for key, right in said.items()
        if key in own
    ]
    manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
    manifest["calibration"] = lines
    manifest["cuts"] = {
        standard: {
            name: exchange_figures.cuts([row[1:] for row in rows if name in ("all", row[0])])
            for name in (*["all"] * (rows is whole), *UNSHOWN, *SHOWN)
        }
        for standard, rows in (("document", whole), ("sentence", alone))
    }
    text = json.dumps(manifest, indent=1, ensure_ascii=False)
    text = ROW.sub(lambda row: " ".join(row[0].split()), text)  # a cut a line
    (folder / MANIFEST).write_text(text + "\n", encoding="utf-8")


def platt(logits: npt.NDArray[Any], true: npt.NDArray[Any]) -> list[float]:
    """Calibrate logits to probabilities (Platt, 1999).

    `logits`: Logits, (n,). `true`: The truth, (n,).
    """
    chances = np.where(true, (true.sum() + 1) / (true.sum() + 2), 1 / ((~true).sum() + 2))

    def loss(line: npt.NDArray[Any]) -> float:
        found = line[0] * logits + line[1]
        return float(np.mean(np.logaddexp(0, found) - chances * found))

    # BFGS, since Newton's steps can diverge from this start
    slope, shift = minimize(loss, np.array([1.0, 0.0])).x.tolist()
    return [slope, shift]


def refit_first_stage(finder: exchange_figures.Finder, learnt: Any, out: Path) -> None:
    """Fit the first stage's head for exchanges anew; its vectors and its other head stay."""
    from evenflow.transforms.lab.training import distil
    from evenflow.transforms.models import files, static

    words = (files.SHIPPED / static.WORDS).read_text(encoding="utf-8").split("\n")
    with np.load(files.SHIPPED / static.TENSORS, allow_pickle=False) as read:
        tensors = {name: read[name] for name in read.files}
    design = distil.Design(words, tensors["vectors"] * float(tensors["scale"]))
    shown, right = finder.windows(learnt)
    rows = np.array([design.exchange(window) for window in shown])
    tensors["exchange"] = distil.head(rows, right).astype(np.float32)
    shutil.copyfile(files.SHIPPED / static.WORDS, out / static.WORDS)
    names, about = [static.WORDS, static.TENSORS], {"exchanges": len(shown)}
    write(out / static.MANIFEST, static.FORMAT, static.VERSION, names, about, tensors)
