"""Stereotypes as a measure: what the filter found of each attribute's groups."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from pydantic import Field

from evenflow.schemas.config import Config
from evenflow.schemas.ledger import UNJUDGED, Filtered, Measured, Verdict
from evenflow.transforms import wilson
from evenflow.transforms.measures.measure import Counter, Family, Measure, MeasureTotals
from evenflow.wordlists.loader import WordList

if TYPE_CHECKING:
    from evenflow.transforms.llm.worker import Tier
    from evenflow.transforms.measures.stereotypes.filter import StereotypeFilter
    from evenflow.transforms.measures.stereotypes.judging import StereotypeBar

# A user is told where removal may be right less often (bound of 95 %; Wilson, 1927)
LOWER = 0.7
EXAMPLES = 6  # strong stereotypes that are kept
COUNTS = ("asked", "unsure", "potential", "strong", "kept", "creeds")
FAMILIES = (
    ("stereotypes_asked", "Sentences that were looked at for stereotypes.", "asked"),
    ("potential_stereotypes", "Sentences that may state a stereotype.", "potential"),
    ("strong_stereotypes", "Sentences that state a strong stereotype.", "strong"),
)


class Stereotypes(Measured):
    """What the filter found in a pane, or in all panes. No pane is judged by it."""

    verdict: Verdict = UNJUDGED
    attributes: dict[str, Filtered] = Field(default_factory=dict)
    unlisted: dict[str, Filtered] = Field(default_factory=dict)


class StereotypeMeasure(Measure[Stereotypes]):
    """Stereotypes; the report shows them with their attributes, and under `unlisted`."""

    name = "stereotypes"
    title = "stereotypes"
    record = Stereotypes
    off: ClassVar[Mapping[str, Any]] = {"action": "off"}
    limits = ()
    in_panes = False
    template = "unlisted.html.j2"

    def counter(self, config: Config, lists: Sequence[WordList]) -> Counter | None:
        """None: what is found is counted after the repair (see `screen`)."""
        return None

    def screen(self, config: Config, tier: Tier | None) -> StereotypeFilter | None:
        """The filter; None if no attribute's stereotypes are looked for."""
        if not config.looks_for_stereotypes:
            return None
        # Its models take a part of a second to load; measuring does not wait for them
        from evenflow.transforms.measures.stereotypes.filter import StereotypeFilter

        if tier is None:
            return StereotypeFilter(config)
        from evenflow.transforms.measures.stereotypes import llm_detector, llm_scorer

        asked = llm_detector.tiered(config, tier), llm_scorer.tiered(config, tier)
        return StereotypeFilter(config, *asked)

    def bar(self, lists: Sequence[WordList]) -> StereotypeBar:
        """What bars exchanges in sentences that may state a stereotype."""
        from evenflow.transforms.measures.stereotypes.judging import StereotypeBar  # as above

        return StereotypeBar(lists)

    def judge(
        self,
        config: Config,
        lists: Sequence[WordList],
        counted: Mapping[str, Any],
        totals: MeasureTotals | None,
    ) -> Stereotypes | None:
        """What was counted, less the kinds of group without a list of which there is nothing."""
        if not counted:
            return None
        found = {name: Filtered.model_validate(each) for name, each in counted.items()}
        listed = {words.attribute for words in lists}
        return Stereotypes(
            attributes={name: each for name, each in found.items() if name in listed},
            unlisted={n: each for n, each in found.items() if n not in listed and each.potential},
        )

    def digests(self, config: Config) -> dict[str, Any]:
        """The digests of the user's own reviews, of stereotypes and of exchanges."""
        repair, found = config.repair.min_probability, dict[str, Any]()
        for name, key, path in (
            ("reviewed", "stereotypes.remove_from", config.stereotypes.remove_from),
            ("reviewed_exchanges", "repair.min_probability", repair),
        ):
            if isinstance(path, str):
                from evenflow.transforms.models import cuts  # as above

                cuts.reviewed(Path(path), key)  # raises what is wrong with it before a run begins
                found[name] = sha256(Path(path).read_bytes()).hexdigest()
        return found

    def sums(self, record: Stereotypes) -> dict[str, Any]:
        """Nothing: `added` combines records."""
        return {}

    def without_sums(self, record: Stereotypes) -> Stereotypes:
        """The record."""
        return record

    def added(
        self, before: MeasureTotals | None, record: Stereotypes, accepted: bool, most: int
    ) -> MeasureTotals:
        """Combine the findings of the next pane with those of the panes before."""
        last = Stereotypes() if before is None else self._own(before)
        combined = Stereotypes(
            attributes=_combined(last.attributes, record.attributes),
            unlisted=_combined(last.unlisted, record.unlisted),
        )
        return MeasureTotals(last=combined, sums={})

    def section(self, totals: MeasureTotals, documents: int, aside: int) -> dict[str, Any]:
        """What was found in all panes."""
        found = self._own(totals).model_dump()
        return {**found, "unlisted": dict(sorted(found["unlisted"].items()))}

    def notes(self, record: Stereotypes) -> Iterator[str]:
        """Yield how often the detector is right where that is little, or not well known."""
        flagged: list[str] = []
        removed: list[str] = []
        for name, each in (record.attributes | record.unlisted).items():
            share = each.right / each.read if each.read else 0.0
            low = wilson.interval(share, each.read)[0] if each.read else 0.0
            if each.action != "flag" and (each.cut is None or low < LOWER):
                told = f"{name}: {share:.2f} of {each.read} read" if each.read else f"{name}: none"
                (flagged if each.cut is None else removed).append(told)
        if flagged:
            yield (
                "stereotypes were flagged and not taken out where labelled sentences do not show"
                f" stereotypes.target_precision ({', '.join(flagged)})"
            )
        if removed:
            yield (
                "stereotypes were taken out where few labelled sentences, or not enough of them,"
                f" say that this is right ({', '.join(removed)})"
            )

    def said(self, totals: MeasureTotals, attribute: str) -> Iterator[str]:
        """Yield how many were found of an attribute's groups."""
        if found := self._own(totals).attributes.get(attribute):
            yield (
                f"{attribute}: {found.strong:,} strong stereotypes were found among"
                f" {found.asked:,} sentences (action {found.action})."
            )

    def figure(self, record: Stereotypes, attribute: str) -> float | None:
        """The share of sentences that state a strong one."""
        seen = record.attributes.get(attribute)
        return seen.strong / seen.asked if seen is not None and seen.asked else None

    def families(self, totals: MeasureTotals | None) -> Iterator[Family]:
        """Yield the metrics of stereotypes."""
        last = Stereotypes() if totals is None else self._own(totals)
        for name, about, key in FAMILIES:
            # Of groups that no word list has, the table has only what may be a stereotype
            every = last.attributes if key == "asked" else last.attributes | last.unlisted
            counts = {(each,): getattr(found, key) for each, found in every.items()}
            yield Family(name, about, ["attribute"], counts, True)

    def limit_families(self, config: Config) -> Iterator[Family]:
        """Yield the threshold of the alert."""
        about = "How often the day's share of strong stereotypes an hour's must be for an alert."
        jump = config.alerts.stereotype_jump
        yield Family("stereotype_jump_threshold_ratio", about, (), {(): jump})


def _combined(a: Mapping[str, Filtered], b: Mapping[str, Filtered]) -> dict[str, Filtered]:
    """Findings of earlier panes and of the next one, by name."""
    return {**a, **{name: combine(a.get(name), each) for name, each in b.items()}}


def combine(a: Filtered | None, b: Filtered) -> Filtered:
    """Combine what the filter found for an attribute."""
    examples = sorted(
        [*(a.examples if a else ()), *b.examples],
        key=lambda each: (-float(each["score"]), str(each["id"]), str(each["sentence"])),
    )
    counts = {name: getattr(b, name) + (getattr(a, name) if a else 0) for name in COUNTS}
    return b.model_copy(update={**counts, "examples": examples[:EXAMPLES]})
