"""What commands print as JSON, as plain data; the tables draw the same."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import STATES, PaneEntry, Sums
from evenflow.transforms.representation import DIGITS, Convergence, demographic_representation, documents_until, score
from evenflow.wordlists import loader

POINTS = 25  # a score costs about a millisecond, a block some twenty


def status(entries: Sequence[PaneEntry], finished: bool, held: str | None) -> dict[str, Any]:
    """The state of a gate: block if any pane was set aside, else that of its last pane; and its figures so far.

    finished: whether all input was read. held: why the gate stands still, None if it does not.
    attributes: of each its verdict, rolling and cumulative score after the last pane, dr_before of the text before its repair
    (null: none), and how many panes were in which state.
    """
    blocked = [entry for entry in entries if entry.folder == "quarantine"]
    last = entries[-1] if entries else None
    return {
        "state": "block" if blocked else last.verdict.state if last else "open",
        "reason": (blocked[-1] if blocked else last).verdict.reason if last else "no pane yet",
        "finished": finished,
        "held": held,
        "panes": len(entries),
        "blocked": [entry.pane for entry in blocked],
        "documents": sum(entry.documents + _aside(entry) for entry in entries),
        "accepted": sum(entry.documents for entry in entries if entry.folder == "accepted"),
        "quarantined": sum(entry.documents for entry in blocked) + sum(_aside(entry) for entry in entries),
        "dead_letters": sum(entry.dead for entry in entries),
        "dead_reasons": _summed([entry.dead_reasons for entry in entries]),
        "attributes": {
            name: {
                "verdict": each.verdict.model_dump(),
                "rolling": each.rolling.model_dump(),
                "cumulative": each.cumulative.model_dump(),
                "dr_before": _before(name, entries),
                "panes": {state: sum(entry.attributes[name].verdict.state == state for entry in entries) for state in STATES},
            }
            for name, each in sorted(last.attributes.items() if last else ())
        },
    }


def _before(name: str, entries: Sequence[PaneEntry]) -> float | None:
    """The cumulative DR of the text as it was before its repair; None where there was none."""
    seen = [entry.attributes[name] for entry in entries]
    counts = [each.repair.before.counts for each in seen if each.repair is not None]
    if not counts:
        return None
    dr = demographic_representation([sum(column) for column in zip(*counts, strict=True)], seen[-1].target)
    return None if dr is None else round(dr, DIGITS)


def _aside(entry: PaneEntry) -> int:
    """Documents of a pane that were set aside one by one."""
    return entry.set_aside.rows if entry.set_aside else 0


@dataclass
class Course:
    """How an attribute's sums grew: those after each block, in the order of the input."""

    sums: dict[str, list[Sums]] = field(default_factory=dict)

    def note(self, total: Figures) -> None:
        """Note where the figures of all blocks so far stand."""
        for name, seen in total.attributes.items():
            self.sums.setdefault(name, []).append(_sums(seen))

    def convergence(self, name: str, target: list[float] | None, confidence: float, epsilon: float) -> Convergence:
        """After how many documents the score's interval was within +- epsilon, to the block.

        Looked for at POINTS blocks at most, each some percent further than the one before, then between two of them.
        """
        course = self.sums.get(name, [])
        count = len(course)
        chosen = {round(count ** (point / (POINTS - 1))) for point in range(POINTS)} if count > POINTS else range(1, count + 1)
        scores = {number: score(course[number - 1], target, confidence) for number in chosen}
        while True:
            numbers = sorted(scores)
            found = documents_until([scores[number] for number in numbers], epsilon)
            first = next((at for at, number in enumerate(numbers) if scores[number].documents == found.documents), 0)
            if not first or numbers[first] - numbers[first - 1] == 1:
                return found
            middle = (numbers[first] + numbers[first - 1]) // 2
            scores[middle] = score(course[middle - 1], target, confidence)


def measured(total: Figures, config: Config, course: Course) -> dict[str, Any]:
    """What was measured: of each attribute its score (ledger.Score), counts and shares a group, and its target.

    convergence: after how many documents that name the attribute its interval was within +- epsilon, or is likely to be
    (representation.Convergence).
    """
    result: dict[str, Any] = {
        "documents": total.documents,
        "text_bytes": total.text_bytes,
        "dead_letters": sum(total.dead_reasons.values()),
        "dead_reasons": total.dead_reasons,
        "confidence": config.gate.confidence,
        "attributes": {},
    }
    for name, settings in config.attributes.items():
        words = loader.load(settings.wordlist or name)
        seen = total.attributes.get(name) or AttributeFigures.empty(len(words.groups))
        target = [settings.target[group] for group in words.groups] if settings.target else None
        mentions = sum(seen.counts)
        convergence = course.convergence(name, target, config.gate.confidence, config.measure.epsilon)
        result["attributes"][name] = score(_sums(seen), target, config.gate.confidence).model_dump() | {
            "counts": dict(zip(words.groups, seen.counts, strict=True)),
            "shares": {
                group: round(count / mentions, 6) if mentions else None
                for group, count in zip(words.groups, seen.counts, strict=True)
            },
            "target": {group: settings.target[group] for group in words.groups} if settings.target else None,
            "convergence": asdict(convergence),
        }
    return result


def _sums(seen: AttributeFigures) -> Sums:
    return Sums(documents=seen.documents, counts=seen.counts, products=seen.products)


def _summed(counts: Sequence[dict[str, int]]) -> dict[str, int]:
    return {reason: sum(each.get(reason, 0) for each in counts) for reason in sorted({key for each in counts for key in each})}


def left_in(entries: Sequence[PaneEntry]) -> list[str]:
    """A line for each attribute whose stereotypes were to be taken out and were not, since no precision is known."""
    last = entries[-1].attributes if entries else {}
    return [
        f"stereotypes of {name} were flagged and not taken out: how often the detector is right there is not known"
        for name, each in last.items()
        if each.stereotypes is not None and each.stereotypes.policy != "flag" and each.stereotypes.cut is None
    ]
