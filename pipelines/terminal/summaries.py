"""What commands print as JSON, as plain data; the tables show the same."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from evenflow.gates import facts
from evenflow.schemas.config import Config, ConfigError
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import Sums
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.representation.dr import documents_until, score
from evenflow.transforms.measures.representation.people import doubted, shipped_doubt
from evenflow.transforms.measures.shift.measure import ShiftMeasure
from evenflow.transforms.measures.shift.strata import NONE, packed, unpacked
from evenflow.wordlists.loader import WordList

if TYPE_CHECKING:
    from evenflow.pipelines.terminal.outcome import Outcome
    from evenflow.transforms.storage.storage import Storage

WORST = ("low", "dr", "mentions")  # by which sources are sorted
FURTHER = 1.05  # from a score to the next: it costs about a millisecond, a block some twenty


def of_run(
    outcome: Outcome, output: Storage, page: str, config: Config
) -> tuple[facts.Facts, dict[str, Any]]:
    """Summarise a run: its facts, and what `evenflow run --json` prints."""
    totals = outcome.entries.totals
    found = facts.of(totals, not outcome.halted, outcome.held, config, output)
    done = list[str]()
    if config.changes_sentences:
        from evenflow.transforms.substitution import reading  # rarely needed

        done = reading.promises(config)
    return found, found.model_dump() | {
        "output": str(output),
        "report": page,
        "new_panes": outcome.new,
        "exchanges": done,
    }


@dataclass
class Course:
    """How the attributes' sums grew, block by block.

    Attributes:
        sums: By attribute, the sums after some blocks, each of which is some percent further on.
    """

    sums: dict[str, list[Sums]] = field(default_factory=dict)
    blocks: int = 0
    due: int = 1

    def note(self, total: Figures) -> None:
        """Note the figures of all blocks so far."""
        self.blocks += 1
        if self.blocks >= self.due:
            self.due = math.ceil(self.blocks * FURTHER)
            for name, seen in total.attributes.items():
                self.sums.setdefault(name, []).append(seen.sums)


def measured(total: Figures, config: Config, course: Course) -> dict[str, Any]:
    """Summarise a measurement as `evenflow measure --json` prints it.

    Args:
        config: The configuration that it was measured under.

    Returns:
        documents, text_bytes, dead_letters, dead_reasons, confidence, and of each attribute its
        score (ledger.Score), counts and shares by group, its target, and convergence: after how
        many documents that name the attribute its interval was within ± epsilon, or is likely to
        be. Where people are counted, score, counts and shares are theirs;
        passages says how many were read, words has the score, counts and shares of all mentions,
        and against the scores of people against equal shares (even) and those of the people who
        live (population). measures has the figures of each measure that the configuration names
        below `measures`, if there is one. With `reference.by` each attribute has sources: by name
        the documents, and the score, counts and shares of all mentions.

    Raises:
        ConfigError: No document has the field `reference.by`.
    """
    result: dict[str, Any] = {
        "documents": total.documents,
        "text_bytes": total.text_bytes,
        "dead_letters": sum(total.dead_reasons.values()),
        "dead_reasons": total.dead_reasons,
        "confidence": config.gate.confidence,
        **({"languages": total.languages} if total.languages else {}),
        **({"other_languages": total.other_languages} if total.other_languages else {}),
        "attributes": {},
    }
    for name in config.attributes:
        words = config.word_list(name)
        seen = total.attributes.get(name) or AttributeFigures.empty(len(words.groups))
        target, confidence = config.target(words), config.gate.confidence
        found = _scored(seen.sums, words.groups, target, confidence)
        noted, people = [*course.sums.get(name, []), seen.sums], dict[str, Any]()
        if seen.people is not None and seen.people.estimate:
            sums = doubted(Sums.model_validate(seen.people.estimate), shipped_doubt(name))
            against = {
                each: score(sums, shares, confidence).model_dump()
                for each, shares in words.references.items()
            }
            people = {"words": found, "passages": seen.people.read, "against": against}
            found, noted = _scored(sums, words.groups, target, confidence), [sums]
        scores = [score(each, target, confidence) for each in noted]
        result["attributes"][name] = {
            **found,
            "target": target and dict(zip(words.groups, target, strict=True)),
            "convergence": asdict(documents_until(scores, config.measure.epsilon)),
            **people,
            **(
                {} if config.reference.by is None else {"sources": _by_source(total, config, words)}
            ),
        }
    named = {name: each for name, each in registry.of(config).items() if name in config.measures}
    for name, each in named.items():
        record = each.judge(config, config.word_lists(), total.measures.get(name, {}), None)
        totals = each.added(None, record, accepted=True, most=0)
        section = each.section(totals, total.documents, 0)
        result.setdefault("measures", {})[name] = section
    return result


def _by_source(total: Figures, config: Config, words: WordList) -> dict[str, Any]:
    """The score of each source, worst first: by the lower bound of its DR."""
    strata = packed(total.measures.get(ShiftMeasure.name, {}))
    if total.documents and not strata.keys() - {NONE}:
        raise ConfigError(f"no document has the field {config.reference.by!r}, to name its source")
    target, nothing = config.target(words), Sums.empty(len(words.groups))
    found = {
        name: {"all_documents": documents}
        | _scored(
            unpacked(own[words.attribute]) if words.attribute in own else nothing,
            words.groups,
            target,
            config.gate.confidence,
        )
        for name, (documents, own) in strata.items()
    }
    return dict(sorted(found.items(), key=lambda each: [-(each[1][of] or 0) for of in WORST]))


def _scored(
    sums: Sums, groups: Sequence[str], target: list[float] | None, confidence: float
) -> dict[str, Any]:
    """The score of sums, with counts and shares by group."""
    total = sum(sums.counts)
    return score(sums, target, confidence).model_dump() | {
        "counts": dict(zip(groups, sums.counts, strict=True)),
        "shares": {
            group: round(count / total, 6) if total else None
            for group, count in zip(groups, sums.counts, strict=True)
        },
    }
