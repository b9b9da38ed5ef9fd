"""The whole training: folds without some sources, calibration, final models, figures, card."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch

from evenflow.transforms.lab.training import card, data, distil, evaluate, export, learning
from evenflow.transforms.lab.training.data import Data, Row
from evenflow.transforms.lab.training.network import Network, pretrained
from evenflow.transforms.models import encoder
from evenflow.transforms.models.encoder import Encoder, logistic
from evenflow.transforms.models.heads import EXCHANGE, STEREOTYPE, HeadLayout
from evenflow.transforms.models.pieces import Tokenizer
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.text.words import WORD_OR_MARK

SEED = 0
SHIPPED = (".onnx", ".json", ".txt", ".npz")
LEFT_OUT = "left_out.jsonl"  # not shipped
FEW = 50  # right rows from which an attribute gets a calibration of its own
STEREOTYPE_TASK = "stereotype"
Floats = npt.NDArray[np.floating[Any]]


@dataclass(frozen=True)
class TrainingPlan:
    """How to train.

    Attributes:
        layers: Layers of the encoder.
        epochs: Passes over the rows.
        threads: Threads of the processor.
        folds: Families of sources that are held out together.
        quick: Whether to train once and calibrate on documents held out, instead of training for
            each fold and once more.
    """

    layers: int = 4
    epochs: int = 3
    threads: int = 2
    folds: Sequence[Sequence[str]] = data.FOLDS
    quick: bool = False


@dataclass
class UnseenLogits:
    """Logits of rows by models that have not seen the rows' sources.

    Attributes:
        rows: n rows.
        encoder: The encoder's logits, (n,).
        first: The first stage's logits, (n,).
    """

    rows: list[Row] = field(default_factory=list)
    encoder: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)

    def add(self, rows: Sequence[Row], encoder: Iterable[float], first: Iterable[float]) -> None:
        """Add rows and their logits.

        Args:
            rows: The rows.
            encoder: The encoder's logits of them.
            first: The first stage's logits of them.
        """
        self.rows.extend(rows)
        self.encoder.extend(encoder)
        self.first.extend(first)


@dataclass(frozen=True)
class Trained:
    """A trained encoder, and a first stage of its vectors.

    Attributes:
        network: The encoder.
        words: n words of the first stage.
        vectors: Their vectors, (n, SIZE).
        scale: What a unit of the vectors stands for.
        heads: Weights and constant of the first stage's heads, by name.
    """

    network: Network
    words: list[str]
    vectors: npt.NDArray[np.int8]
    scale: float
    heads: dict[str, Floats]

    def logits(self, rows: Sequence[Row], tokenizer: Tokenizer, head: str) -> tuple[Floats, Floats]:
        """Compute the logits of rows.

        Args:
            rows: n rows.
            tokenizer: Cuts texts into word pieces.
            head: The head: exchange or stereotype.

        Returns:
            The encoder's logits (n,) and the first stage's (n,).
        """
        texts, sizes = _texts(rows)
        values = learning.values(self.network, [tokenizer.pieces(text) for text in texts])
        design = distil.Design(self.words, self.vectors * self.scale)
        weights = self.heads[head]
        made = (
            design.exchange
            if head == "exchange"
            else lambda text: design.mean(WORD_OR_MARK.findall(text))
        )
        first = np.array([made(text) for text in texts]) @ weights[:-1] + weights[-1]
        column = EXCHANGE if head == "exchange" else STEREOTYPE
        return evaluate.worst(values[:, column], sizes), evaluate.worst(first, sizes)


def rebuild(
    read: Data, model: Path, out: Path, plan: TrainingPlan, say: Callable[[str], None] = print
) -> None:
    """Train everything and write it.

    Args:
        read: All rows.
        model: A folder with model.safetensors and vocab.txt of all-MiniLM-L6-v2.
        out: The folder to write to.
        plan: How to train.
        say: Takes a line about what was done.
    """
    begin = time.monotonic()
    torch.set_num_threads(plan.threads)
    torch.use_deterministic_algorithms(True)
    tokenizer = encoder.read_tokenizer(model / encoder.VOCABULARY)
    own, kept = read.part("train"), read.part("report")
    layout = data.layout_of(own.sentences)
    exchanges, sentences = UnseenLogits(), UnseenLogits()
    if plan.quick:
        learnt, away = own.halved(data.is_calibration)
        trained = train(learnt, layout, model, tokenizer, plan)
        judge_unseen(trained, away, tokenizer, exchanges, sentences)
    else:
        for held in plan.folds:
            away = own.of(held)
            if away.exchanges:
                say(f"without {', '.join(held)}: {time.monotonic() - begin:.0f} s")
                unseen = train(own.without(held), layout, model, tokenizer, plan)
                judge_unseen(unseen, away, tokenizer, exchanges, sentences)
        say(f"all sources: {time.monotonic() - begin:.0f} s")
        trained = train(own, layout, model, tokenizer, plan)
    calibration, firsts = calibrated(exchanges, sentences)
    heads = {name: each * firsts[name][0] for name, each in trained.heads.items()}
    for name, each in heads.items():
        each[-1] += firsts[name][1]
    about = {
        "trained_on": {
            "exchanges": len(own.exchanges),
            "sentences": len(own.sentences),
            "seed": SEED,
            "epochs": plan.epochs,
            "quick": plan.quick,
        }
    }
    export.write_encoder(
        trained.network, layout, calibration, model / encoder.VOCABULARY, out, about
    )
    distil.write(trained.words, trained.vectors, trained.scale, heads, out, about)
    say(f"written: {time.monotonic() - begin:.0f} s")
    where = "documents held out" if plan.quick else "sources left out"
    tables = figures(exchanges, sentences, kept, calibration, firsts, out, where)
    size = {
        path.name: path.stat().st_size for path in sorted(out.iterdir()) if path.suffix in SHIPPED
    }
    (out / card.NAME).write_text(
        card.card(own, tables, size, time.monotonic() - begin), encoding="utf-8"
    )


def judge_unseen(
    trained: Trained,
    away: Data,
    tokenizer: Tokenizer,
    exchanges: UnseenLogits,
    sentences: UnseenLogits,
) -> None:
    """Add the logits of rows that a model has not seen.

    Args:
        trained: The model.
        away: The rows.
        tokenizer: Cuts texts into word pieces.
        exchanges: Where the exchanges are added.
        sentences: Where the sentences are added.
    """
    for seen, rows, head in (
        (exchanges, away.exchanges, "exchange"),
        (sentences, _asked(away.sentences), STEREOTYPE_TASK),
    ):
        if rows:
            seen.add(rows, *trained.logits(rows, tokenizer, head))


def figures(
    exchanges: UnseenLogits,
    sentences: UnseenLogits,
    kept: Data,
    calibration: dict[str, list[float]],
    firsts: dict[str, list[float]],
    out: Path,
    where: str,
) -> list[tuple[str, card.ScoredRows]]:
    """Compute the tables of the card: of sources left out, and of the rows kept for the report.

    Args:
        exchanges: Logits of exchanges whose sources were left out.
        sentences: Logits of such sentences.
        kept: The rows kept for the report.
        calibration: The encoder's slope and shift by head.
        firsts: The first stage's slope and shift by head.
        out: The folder of the new models.
        where: What the rows left out are called.

    Returns:
        Title and figures of each table.
    """
    judge, first = Encoder(out), FirstStage(out)
    tables: list[tuple[str, card.ScoredRows]] = []
    for name, seen in (("exchange", exchanges), (STEREOTYPE_TASK, sentences)):
        if not seen.rows:
            continue
        slope, shift = firsts[name]
        scored = {
            "encoder": chances(seen.encoder, seen.rows, calibration, name),
            "first stage": logistic(np.array(seen.first) * slope + shift),
        }
        tables.append((f"{name}: {where}", card.ScoredRows(seen.rows, truth(seen.rows), scored)))
        if name == "exchange":
            _write_left_out(out / LEFT_OUT, seen.rows, scored)
    if kept.exchanges:
        scored = {
            "encoder": card.judged(judge, kept.exchanges),
            "first stage": card.judged(first, kept.exchanges),
        }
        tables.append(
            (
                "exchange: report documents",
                card.ScoredRows(kept.exchanges, truth(kept.exchanges), scored),
            )
        )
    if asked := _asked(kept.sentences):
        texts = [row["text"] for row in asked]
        scored = {
            "encoder": np.array([each.probability for each in judge.stereotypes(texts)]),
            "first stage": np.array(first.stereotypes(texts)),
        }
        tables.append(
            (f"{STEREOTYPE_TASK}: report documents", card.ScoredRows(asked, truth(asked), scored))
        )
    return tables


def _write_left_out(path: Path, rows: Sequence[Row], scored: dict[str, Floats]) -> None:
    """Write the judges' answers about sources left out, for tests/benchmarks/exchange.py."""
    with path.open("w", encoding="utf-8") as lines:
        for number, row in enumerate(rows):
            each = {name: float(chances[number]) for name, chances in scored.items()}
            lines.write(json.dumps({"id": row["id"], **each}) + "\n")


def train(
    own: Data, layout: HeadLayout, model: Path, tokenizer: Tokenizer, plan: TrainingPlan
) -> Trained:
    """Train an encoder, and the first stage of its vectors.

    Args:
        own: The rows to learn from.
        layout: The layout of the heads.
        model: The folder of the pretrained model.
        tokenizer: Cuts texts into word pieces.
        plan: How to train.

    Returns:
        Both models.
    """
    torch.manual_seed(SEED)
    network = pretrained(model / "model.safetensors", plan.layers, layout.outputs)
    learning.train(network, layout, data.examples(own, layout, tokenizer), plan.epochs, SEED)
    texts, sizes = _texts(own.exchanges)
    asked = _asked(own.sentences)
    pieces = (model / encoder.VOCABULARY).read_text(encoding="utf-8").splitlines()
    words = distil.vocabulary(pieces, [*texts, *(row["text"] for row in asked)])
    vectors, scale = distil.vectors(network, tokenizer, words)
    design = distil.Design(words, vectors * scale)
    right = np.repeat([float(row["label"] != data.WRONG) for row in own.exchanges], sizes)
    means = np.array([design.mean(WORD_OR_MARK.findall(row["text"])) for row in asked])
    weights = [data.WRITTEN_WEIGHT if row["source"] in data.WRITTEN else 1.0 for row in asked]
    heads = {
        "exchange": distil.head(np.array([design.exchange(text) for text in texts]), right),
        STEREOTYPE_TASK: distil.head(means, [float(row["label"]) for row in asked], weights),
    }
    return Trained(network, words, vectors, scale, heads)


def calibrated(
    exchanges: UnseenLogits, sentences: UnseenLogits
) -> tuple[dict[str, list[float]], dict[str, list[float]]]:
    """Calibrate the encoder and the first stage.

    Args:
        exchanges: Logits of exchanges whose sources the models have not seen.
        sentences: Logits of such sentences.

    Returns:
        Slope and shift by head: those of the encoder, and those of the first stage.
    """
    out = {"exchange": [1.0, 0.0], STEREOTYPE_TASK: [1.0, 0.0]}
    first = dict(out)
    for name, seen in (("exchange", exchanges), (STEREOTYPE_TASK, sentences)):
        true = truth(seen.rows)
        if not true.any() or true.all():
            continue
        out[name] = rising(np.array(seen.encoder), true)
        first[name] = rising(np.array(seen.first), true)
    true = truth(exchanges.rows)
    for attribute in sorted({row["attribute"] for row in exchanges.rows}):
        at = np.array([row["attribute"] == attribute for row in exchanges.rows])
        if true[at].sum() >= FEW:
            out[f"exchange {attribute}"] = rising(np.array(exchanges.encoder)[at], true[at])
    return out, first


def rising(logits: Floats, true: evaluate.Truth) -> list[float]:
    """Calibrate so that the order of rows stays.

    Args:
        logits: Logits, (n,).
        true: The truth, (n,).

    Returns:
        Slope and shift; 1 and 0 where few rows would give a negative slope.
    """
    slope, shift = evaluate.platt(logits, true)
    return [slope, shift] if slope > 0 else [1.0, 0.0]


def truth(rows: Sequence[Row]) -> npt.NDArray[np.bool_]:
    """Read the truth from labels.

    Args:
        rows: n exchanges or sentences.

    Returns:
        Whether each exchange is right or acceptable, or whether each sentence is a stereotype,
        (n,).
    """
    return np.array(
        [
            row["label"] != data.WRONG if "windows" in row else float(row["label"]) >= 0.5
            for row in rows
        ],
        bool,
    )


def chances(
    logits: Sequence[float], rows: Sequence[Row], calibration: dict[str, list[float]], head: str
) -> Floats:
    """Compute the encoder's probabilities.

    Args:
        logits: Its logits, (n,).
        rows: The n rows.
        calibration: Slope and shift by head.
        head: The head.

    Returns:
        The probabilities, (n,).
    """
    each = [calibration.get(f"{head} {row.get('attribute')}", calibration[head]) for row in rows]
    return logistic(
        [slope * logit + shift for logit, (slope, shift) in zip(logits, each, strict=True)]
    )


def _asked(sentences: Sequence[Row]) -> list[Row]:
    """The sentences that are labelled for stereotypes."""
    return [row for row in sentences if row["task"] == STEREOTYPE_TASK]


def _texts(rows: Sequence[Row]) -> tuple[list[str], list[int]]:
    """The texts of rows in one list, and how many each row has."""
    each = [row["windows"] if "windows" in row else [row["text"]] for row in rows]
    return [text for texts in each for text in texts], [len(texts) for texts in each]
