"""The design of a sentence encoder: trained on pairs that a gate takes out or adds copies of.

That is sections 4 and 5 of Dolci et al. (2023). The gate's own modes make the data; what is a high
bias score is said by percentiles of the scores of all pairs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenflow.gates.ledger.files import canonical
from evenflow.pipelines.lab.train import pairs
from evenflow.pipelines.lab.train.arms import OPEN, Cell, Datasets, keep
from evenflow.pipelines.lab.train.benchmark import Asked
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.pipelines.lab.train.rows import Data, select
from evenflow.schemas import documents
from evenflow.schemas.config import load
from evenflow.schemas.encoder_section import BILSTM
from evenflow.schemas.experiment import Experiment
from evenflow.schemas.experiment_arms import Arm
from evenflow.transforms.lab.bias_score import hard
from evenflow.transforms.measures.bias_score import (
    direction,
    reference,
    signal,
    summary,
    vectors,
    words,
)
from evenflow.transforms.measures.bias_score.records import BiasSums
from evenflow.transforms.measures.bias_score.score import Scores
from evenflow.transforms.storage.directory import Directory

if TYPE_CHECKING:
    from evenflow.pipelines.lab.train.pair_training import Pair, SentenceEncoder
    from evenflow.transforms.lab.benchmarks.suite import Suite
    from evenflow.transforms.lab.language_models.bilstm import BiLstm, WordTable

RECORDS, REFERENCE = "pairs.jsonl", "reference.json"
DONE = "training.json"  # in a model's folder: it is trained
Floats = np.ndarray[Any, np.dtype[np.float64]]


class Encoders:
    """The encoders of an experiment.

    Args:
        experiment: The experiment, with an encoder.

    Raises:
        TrainInputError: The pairs cannot be used.
        VectorsError: The word vectors cannot be used.
        OSError: A file cannot be read or written.
    """

    def __init__(self, experiment: Experiment):
        assert experiment.encoder is not None
        self._experiment, self._settings = experiment, experiment.encoder
        self._folder = Path(experiment.output) / "data"
        self._records = self._folder / RECORDS
        pairs.write(experiment.pairs, self._settings.labels, self._records)
        self._datasets = Datasets(experiment)
        self._checked: dict[str, Data] = {}
        self._tables: dict[str, WordTable] = {}
        if self._settings.threads is not None:
            import torch

            torch.set_num_threads(self._settings.threads)

    def data(self, cell: Cell) -> Data:
        """Make the data of a cell, or find them; they do not depend on its seed.

        Args:
            cell: A cell that is trained.

        Returns:
            The data.

        Raises:
            ConfigError: The arm's gate has keys that cannot be used.
            TrainInputError: No pair is left, or a task has one label only.
            DirectionError: The word vectors have no direction of the attribute.
            OSError: A file cannot be read or written.
        """
        if cell.arm in self._checked:
            return self._checked[cell.arm]
        arm = self._experiment.arms[cell.arm]
        try:
            data = self._gated(arm)
        except TrainInputError as error:
            raise TrainInputError(f"arm {cell.arm}: {error}") from error
        labels: dict[str, set[str]] = {}
        for pair in self._pairs(arm, data):
            labels.setdefault(pair.task, set()).add(pair.label)
        if not labels:
            raise TrainInputError(f"arm {cell.arm}: no pair is left to train on")
        for task, own in labels.items():
            if len(own) < 2:
                raise TrainInputError(
                    f"arm {cell.arm}: all its {task} have the label {min(own)!r}; two or more"
                    " labels were expected"
                )
        self._checked[cell.arm] = data
        return data

    def _gated(self, arm: Arm) -> Data:
        """The output of an arm's gate. Raises as `data`."""
        if arm.data is not None:
            return select(arm.data)
        own = self._experiment
        bias = arm.gate.get("bias_score", {})
        usual: dict[str, Any] = {
            "mode": "measure",
            "attribute": own.attribute,
            "fields": list(pairs.TEXTS),
            "vectors": self._settings.vectors,
            "warn": 1.0,
            "block": 1.0,
        }
        if bias.get("mode", "measure") != "measure":
            usual["reference"] = str(self._reference)
        settings = {**arm.gate, **OPEN, "fields.text": pairs.TEXTS[0]}
        settings |= {f"bias_score.{key}": each for key, each in usual.items() if key not in bias}
        config = load(None, deepcopy(settings), [own.attribute])
        return self._datasets.made([str(self._records)], settings, config)

    @cached_property
    def _reference(self) -> Path:
        """The file with the percentiles of all pairs' scores. Raises as `data`."""
        own = self._experiment.attribute
        column = documents.leaning(own).name
        full = self._gated(Arm())
        found = [row.fields[column] for row in full.rows(more=[column])]
        scores = np.array([each for each in found if each is not None], float)
        if not len(scores):
            raise TrainInputError(f"{self._records}: no pair has a word that the vectors know")
        changes = {"bias_score.mode": "measure", "bias_score.attribute": own}
        vectors_file = {"bias_score.vectors": self._settings.vectors}
        config = load(None, changes | vectors_file, [own])
        groups = config.word_list(own).groups
        each = Scores(np.tile(scores[:, None], len(groups)), scores, np.ones(len(scores), bool))
        sums = summary.sums(each, np.arange(len(scores)), groups, None)
        made = reference.content(own, signal.of(config).made_with, BiasSums(**sums))
        Directory(self._folder).write(REFERENCE, canonical(made))
        return self._folder / REFERENCE

    def _pairs(self, arm: Arm, data: Data) -> Iterator[Pair]:
        """The pairs of an arm. Raises TrainInputError, OSError."""
        from evenflow.pipelines.lab.train.pair_training import Pair

        taken = keep(self._experiment, arm)
        for row in data.rows(more=pairs.FIELDS):
            if taken(row):
                premise, hypothesis, label, task = (str(row.fields[name]) for name in pairs.FIELDS)
                yield Pair(premise, hypothesis, label, task, row.weight)

    def train(self, cell: Cell, data: Data, on_step: Callable[[Any], None]) -> None:
        """Train an encoder, unless it is trained.

        Args:
            cell: Its cell.
            data: Its data.
            on_step: Called after each step.

        Raises:
            LanguageModelError: The transformer cannot be used.
            TrainInputError: A shard is not what the ledger says.
            OSError: A file cannot be read or written.
        """
        arm, folder = self._experiment.arms[cell.arm], cell.model
        if (folder / DONE).exists():
            return
        from evenflow.pipelines.lab.train.pair_training import learn

        own = list(self._pairs(arm, data))
        encoder = self._fresh(arm, cell.seed)
        read = encoder.read([text for pair in own for text in pair[:2]])
        losses = learn(encoder, own, self._settings, cell.seed, on_step)
        encoder.save(folder)
        made = {"data": {"documents": len(own), "tokens": read, **data.record()}, "losses": losses}
        Directory(folder).write(DONE, canonical(made))

    def asked(self, cell: Cell) -> tuple[Asked, None]:
        """An encoder as benchmarks ask it.

        Args:
            cell: Its cell.

        Returns:
            The encoder; of an arm that is not trained, as it was made. It has no adapter.

        Raises:
            LanguageModelError: The transformer cannot be used.
            OSError: A file cannot be read.
        """
        arm = self._experiment.arms[cell.arm]
        if self._settings.kind != BILSTM:
            from evenflow.transforms.lab.benchmarks.asking import Models

            model = str(cell.model) if arm.trained else str(self._settings.model)
            return Models(model, how=self._settings.pooling), None
        made = self._bilstm(arm, cell.seed)
        made = made.restored(cell.model) if arm.trained else made
        return AskedBiLstm(made, f"{arm.vectors} {self._space.digest}"), None

    @cached_property
    def _space(self) -> vectors.Vectors:
        """The word vectors. Raises VectorsError."""
        own = self._settings.vectors
        return vectors.load(None if own is None else Path(own))

    def _fresh(self, arm: Arm, seed: int) -> SentenceEncoder:
        """An encoder that has not learnt pairs. Raises LanguageModelError, VectorsError."""
        if self._settings.kind == BILSTM:
            return self._bilstm(arm, seed)
        from evenflow.transforms.lab.language_models.tuning import TunedEncoder
        from evenflow.transforms.models import loading

        loaded = loading.load(str(self._settings.model), kind="encoder")
        return TunedEncoder(loaded, self._settings.pooling, self._settings.longest)

    def _bilstm(self, arm: Arm, seed: int) -> BiLstm:
        """A BiLSTM with random weights. Raises VectorsError, DirectionError."""
        import torch

        from evenflow.transforms.lab.language_models.bilstm import BiLstm, WordTable

        if arm.vectors not in self._tables:
            look_up = self._look_up(arm.vectors == "hard")
            self._tables[arm.vectors] = WordTable(self._space.size, look_up)
        torch.manual_seed(seed)
        return BiLstm(self._tables[arm.vectors], self._settings.hidden, self._settings.longest)

    def _look_up(self, debiased: bool) -> Callable[[Sequence[str]], Mapping[str, Floats]]:
        """What gives the vectors of words. Raises DirectionError."""
        space = self._space
        attribute = self._experiment.attribute
        listed = load(None, None, [attribute]).word_list(attribute)
        basis = direction.find(space, listed).basis if debiased else None
        named = words.named(listed) | words.given_names(listed)

        def look_up(asked: Sequence[str]) -> Mapping[str, Floats]:
            known = [word for word in asked if word in space.words]
            rows = space.unit(known)
            if basis is not None:
                rows = hard.neutralised(rows, known, basis, named)
            return dict(zip(known, rows, strict=True))

        return look_up


@dataclass
class AskedBiLstm:
    """A BiLSTM as benchmarks ask it.

    Attributes:
        encoder: The encoder.
        words: What its word vectors are.
        name: What it is called.
    """

    encoder: BiLstm
    words: str
    name: str = BILSTM

    def kind(self, suite: Suite) -> str:
        """How a suite asks it."""
        return "encoder"

    def digest(self) -> str:
        """What its answers depend on."""
        return f"{self.encoder.digest()} {self.words}"

    def ready(self, suite: Suite) -> BiLstm:
        """What the suite's `ask` takes."""
        return self.encoder
