"""The checks of a run's panes, from its configuration."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from evenflow.gates.expectations.checks import PaneChecks
from evenflow.gates.expectations.own_suite import DrLimit
from evenflow.gates.judge import PaneJudge
from evenflow.gates.ledger.totals import Totals
from evenflow.schemas.config import Config
from evenflow.schemas.documents import WEIGHT
from evenflow.wordlists.loader import WordList

START = "start checks"  # stage of a process's first pane: loading Great Expectations


def pane_checks(config: Config, lists: Sequence[WordList]) -> PaneChecks:
    """Make the checks of a run's panes; this takes seconds the first time.

    Raises:
        SuiteError: The user's suite of checks cannot be used.
    """
    judge = PaneJudge(config, lists, Totals())
    weight = WEIGHT.name if config.has_weights and config.repair.output_as == "weight" else None
    limits = {
        words.attribute: DrLimit(
            judge.thresholds(words.attribute).block,
            judge.target(words),
            config.gate.min_mentions,
            config.gate.confidence,
            weight,
        )
        for words in lists
    }
    strong: dict[str, tuple[float, float]] = {}
    if config.looks_for_stereotypes:
        from evenflow.transforms.measures.stereotypes import calibration

        strong = calibration.removed(config)
    return PaneChecks(
        Path(config.checks.suite) if config.checks.suite else None,
        lists=lists,
        limits=limits,
        identity=config.fields.id,
        text=config.fields.column,
        strong=strong,
        sentences=config.has_sentence_table,
    )
