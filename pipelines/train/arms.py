"""The data of an experiment's arms: outputs of our own gate over one input."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

from evenflow.gates.ledger.files import canonical, read_entries
from evenflow.pipelines.files.driver import Run
from evenflow.pipelines.train import mining
from evenflow.pipelines.train.errors import TrainInputError
from evenflow.pipelines.train.rows import Data, Row, select
from evenflow.schemas.config import load
from evenflow.schemas.experiment import Arm, Experiment

# No pane is blocked: what arms differ in is the text, and not which panes were accepted
OPEN = {"gate.warn": 1.0, "gate.block": 1.0, "gate.most_dead": 1.0}
POINTS = 1 << 32  # of the hash that draws a random subset


def data_of(experiment: Experiment, arm: Arm) -> Data:
    """Make the data of an arm, or find it where it is made; arms with one gate share its output.

    Args:
        experiment: The experiment.
        arm: An arm that is trained.

    Returns:
        The data, from which `keep` takes a subset.

    Raises:
        ConfigError: The arm's gate has keys that cannot be used.
        TrainInputError: There is no document.
        OSError: A file cannot be read or written.
    """
    if arm.data is not None:
        return select(arm.data)
    config = load(None, {**arm.gate, **OPEN}, [experiment.attribute])
    inputs = experiment.input
    if arm.mined is not None:
        folder = _folder(experiment, arm.mined.model_dump())
        mining.mine_for(inputs, experiment.model, folder, config, arm.mined)
        inputs = [str(folder / mining.RECORDS)]
    kind = [arm.gate, arm.mined.model_dump()] if arm.mined else arm.gate
    output = _folder(experiment, kind)
    Run(inputs, output, config).go()
    if not read_entries(output):
        raise TrainInputError(f"{', '.join(inputs)}: no document to train on")
    return select(output)


def _folder(experiment: Experiment, kind: object) -> Path:
    """Where data of a kind are."""
    digest = hashlib.sha256(canonical(kind)).hexdigest()
    return Path(experiment.output) / "data" / digest[:8]


def keep(experiment: Experiment, arm: Arm) -> Callable[[Row], bool]:
    """Say which documents of its data an arm is trained on.

    Args:
        experiment: Its attribute counts.
        arm: Its subset counts.

    Returns:
        Whether a document is taken; of a random subset, this is a function of its id.
    """

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
