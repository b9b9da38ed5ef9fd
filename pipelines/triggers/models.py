"""The models that a rule has trained: which was promoted last, what decides, and which stay.

    triggers/models/RULE.PANE/          a model, or an adapter
    triggers/models/RULE.PANE.checked/  its benchmarks, and decision.json
    triggers/models/RULE.base/          those of the model as it is

A model without training.json, or without a decision where one is wanted, was not finished.
"""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

from evenflow.gates.triggers import Decision
from evenflow.schemas.config.triggers import FinetuneAction, Promotion

DECISION, TRAINED = "decision.json", "training.json"


def checked(model: Path) -> Path:
    """Where the benchmarks of a trained model are, and the decision on it."""
    return model.with_name(f"{model.name}.checked")


def decided(model: Path) -> Any:
    """The decision on a trained model; None without one. Raises OSError."""
    path = checked(model) / DECISION
    return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None


def words(model: str, trained: Path | None) -> list[str]:
    """The options that name a model, or what was trained from it."""
    if trained is None:
        return ["--model", model]
    if (trained / "adapter_config.json").exists():
        return ["--model", model, "--adapter", str(trained)]
    return ["--model", str(trained)]  # all weights were trained, or merged


def last(own: FinetuneAction, made: Path, decision: Decision) -> Path | None:
    """The last model before a decision that was promoted; None if there is none. Raises OSError."""
    return next(iter(_before(own, made, decision)[0][::-1]), None)


def comparison(own: FinetuneAction, wanted: Promotion, made: Path, decision: Decision) -> list[str]:
    """The command that decides on what was trained. Raises OSError."""
    target = made / decision.key
    found = ["benchmark", "--model", own.model, "--trained", str(target)]
    before = last(own, made, decision)
    found += ["--last", str(before)] if before is not None else []
    found += ["--margin", str(wanted.margin)]
    for suite in wanted.suites:
        found += ["--suite", suite]
    for option, value in (("--items", wanted.items), ("--benchmark-data", wanted.data)):
        found += [option, str(value)] if value is not None else []
    return found


def finished(own: FinetuneAction, model: Path) -> bool:
    """Whether a model was trained, and decided on where that is wanted. Raises OSError."""
    trained = (model / TRAINED).exists()
    return trained and (own.promote is None or decided(model) is not None)


def prune(own: FinetuneAction, made: Path, decision: Decision) -> None:
    """Remove all older models of a rule but the last ones, after a decision. Raises OSError."""
    if own.keep is None:
        return
    after = decision.model_copy(update={"pane": decision.pane + 1})
    kept = {model.name for models in _before(own, made, after) for model in models[-own.keep :]}
    for path in sorted(made.glob(f"{decision.rule}.*[0-9]*")):  # a kill may have left a part
        name = path.name[: len(decision.key)]
        if name < decision.key and name not in kept:
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def _before(own: FinetuneAction, made: Path, decision: Decision) -> tuple[list[Path], list[Path]]:
    """The models of a rule before a decision: those promoted, and those kept aside, by pane."""
    promoted: list[Path] = []
    aside: list[Path] = []
    for path in sorted(made.glob(f"{decision.rule}.*[0-9]")):
        if path.name < decision.key and finished(own, path):
            found = decided(path)
            (promoted if found is None or found["promoted"] else aside).append(path)
    return promoted, aside
