"""The data of an experiment's arms: outputs of our own gate over one input."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from evenflow.gates.ledger.files import canonical, read_entries
from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.lab.train import mining
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.pipelines.lab.train.mining_inputs import scorer_of
from evenflow.pipelines.lab.train.rows import Data, Row, select
from evenflow.schemas.config import load
from evenflow.schemas.experiment import Experiment
from evenflow.schemas.experiment_arms import Arm
from evenflow.transforms.lab.masking.scoring import Remembering, Scorer
from evenflow.wordlists.loader import WordList

# No pane is blocked: what arms differ in is the text, and not which panes were accepted
OPEN = {"gate.warn": 1.0, "gate.block": 1.0, "gate.most_dead": 1.0}
POINTS = 1 << 32  # of the hash that draws a random subset


@dataclass(frozen=True)
class Cell:
    """An arm with a seed."""

    arm: str
    seed: int
    folder: Path

    @property
    def model(self) -> Path:
        """Folder of what was trained."""
        return self.folder / "model"

    @property
    def items(self) -> Path:
        """Folder of the answers, item by item."""
        return self.folder / "benchmark" / "items"


class Datasets:
    """The data of an experiment's cells, each made once; arms with one gate share its output."""

    def __init__(self, experiment: Experiment):
        self._experiment = experiment
        self._scorer: tuple[Scorer, str] | None = None
        self._made: dict[Path, Data] = {}

    def of(self, arm: Arm, seed: int) -> Data:
        """Make the data of a cell, or find it where it is made."""
        if arm.data is not None:
            return select(arm.data)
        own = self._experiment
        config = load(None, {**arm.gate, **OPEN}, [own.attribute])
        inputs, kind = own.input, {"gate": arm.gate}
        if (mined := arm.mined) is not None:
            if mined.random:
                mined = mined.model_copy(update={"seed": mined.seed + seed})
            folder = self._folder(mined.model_dump())
            mining.mine_for(inputs, own.model, folder, config, mined, self._scored)
            inputs, kind = [str(folder / mining.RECORDS)], {**kind, "mined": mined.model_dump()}
        output = self._folder(kind)
        if output not in self._made:
            Run(inputs, output, config).go()
            if not read_entries(output):
                raise TrainInputError(f"{', '.join(inputs)}: no document to train on")
            self._made[output] = select(output)
        return self._made[output]

    def _scored(self, words: WordList) -> tuple[Scorer, str]:
        """What scores sentences, loaded once. Raises LanguageModelError."""
        if self._scorer is None:
            scorer, digest = scorer_of(self._experiment.model, words)
            self._scorer = Remembering(scorer), digest
        return self._scorer

    def _folder(self, kind: object) -> Path:
        """Where data of a kind are."""
        digest = hashlib.sha256(canonical(kind)).hexdigest()
        return Path(self._experiment.output) / "data" / digest[:8]


def keep(experiment: Experiment, arm: Arm) -> Callable[[Row], bool]:
    """Say which documents of its data an arm is trained on."""

    def names(row: Row) -> bool:
        return row.mentions.get(experiment.attribute, 0) > 0

    def drawn(row: Row) -> bool:
        digest = hashlib.sha256(row.id.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:4]) < arm.share * POINTS

    kinds: dict[str, Callable[[Row], bool]] = {
        "all": lambda row: True,
        "neutral": lambda row: not names(row),
        "relevant": names,
        "random": drawn,
    }
    return kinds[arm.subset]
