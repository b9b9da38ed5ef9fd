"""Decides whether a model that was trained takes the place of the last one.

Each suite asks the model as it is, the last promoted one and the new one the same items. The new
one is promoted if none of its figures, of ability or of bias, may be worse than either by more than
a margin. With few items an interval is wide, and nothing is promoted: no evidence is no promotion.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from evenflow.gates.ledger.files import canonical
from evenflow.pipelines.lab.train.benchmark import ITEMS, SuiteProgress, benchmark, paired
from evenflow.transforms.storage.directory import Directory

CHECKED, DECISION = ".checked", "decision.json"
RULE_OF_THREE = 3.0  # none of n was seen: less than 3 / n are so, with 95 %


@dataclass(frozen=True)
class Compared:
    """A figure of the new model beside that of another one.

    `low`: Lower bound of the paired difference, new less other; None: there is none.
    """

    suite: str
    against: str
    better: str
    figure: float | None
    low: float | None
    high: float | None
    n: int

    @property
    def worse(self) -> float | None:
        """By how much the new figure may be worse, at the worse end; None if nothing says so."""
        if self.figure is None or self.low is None or self.high is None:
            return None
        low, high = self.low, self.high
        if low == high == 0:  # all were answered alike: of others up to 3 / n may not be
            high = min(1.0, RULE_OF_THREE / self.n)
            low = -high
        if self.better == "higher":
            return -low
        if self.better == "lower":
            return high
        best = float(self.better)
        ends = (abs(self.figure + end - best) for end in (low, high))
        return max(ends) - abs(self.figure - best)


def decide(compared: Sequence[Compared], margin: float) -> tuple[bool, str]:
    """Decide from the figures."""
    why: list[str] = []
    for each in compared:
        worse = each.worse
        if worse is None:
            why.append(f"{each.suite} has no interval against {each.against}")
        elif worse > margin:
            why.append(f"{each.suite} may be worse than {each.against} by {worse:.3f}")
    if why:
        return False, f"kept aside: {'; '.join(why)} (margin {margin:g})"
    others = " and ".join(dict.fromkeys(each.against for each in compared))
    return True, f"promoted: no figure is worse than {others} by more than {margin:g}"


def promote(
    model: str,
    trained: Path,
    last: Path | None,
    base_output: Path,
    suites: Sequence[str],
    margin: float,
    data: Path | None = None,
    items: int | None = None,
    on_batch: Callable[[SuiteProgress], None] = lambda _: None,
) -> dict[str, Any]:
    """Measure the models, decide, and write the decision; what was measured is not asked again.

    `last`: Folder of the last promoted one; None: there is none.
    """

    def measured(folder: Path | None) -> tuple[Path, dict[str, Any]]:
        output, given, adapter = base_output, model, None
        if folder is not None:
            output = folder.with_name(f"{folder.name}{CHECKED}")
            is_adapter = (folder / "adapter_config.json").exists()
            given, adapter = (model, str(folder)) if is_adapter else (str(folder), None)
        how: dict[str, Any] = {"data": data, "items": items, "on_batch": on_batch}
        return output, benchmark(given, output, suites, adapter=adapter, **how)["suites"]

    output, own = measured(trained)
    compared: list[Compared] = []
    for against, folder in {"base": None, **({} if last is None else {"last": last})}.items():
        place, other = measured(folder)
        for suite in dict.fromkeys(suites):
            new, old = (each / ITEMS / f"{suite}.jsonl" for each in (output, place))
            found = paired(new, old)
            bounds = other[suite]["figure"], found["low"], found["high"], found["n"]
            compared.append(Compared(suite, against, own[suite]["better"], *bounds))
    promoted, reason = decide(compared, margin)
    rows = [asdict(each) | {"worse": each.worse} for each in compared]
    made = {"promoted": promoted, "reason": reason, "compared": rows}
    Directory(output).write(DECISION, canonical(made))
    return made
