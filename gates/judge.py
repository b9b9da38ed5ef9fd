"""Judges panes in order: scores of the pane, of it beside the last accepted ones (rolling) and of
all so far (cumulative), and the verdict from them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

from evenflow.gates.ledger.totals import Totals, add
from evenflow.gates.verdict import Thresholds, decide, worst
from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import (
    AttributeEntry,
    Checks,
    Filtered,
    Folder,
    Heavy,
    Repair,
    Sums,
    Verdict,
)
from evenflow.transforms.representation.dr import score
from evenflow.wordlists.loader import WordList

TOP_LABELS = 40  # labels a pane and attribute that the ledger keeps


class PaneJudge:
    """Judges the next pane. totals: the ledger so far, which grows beside it; all that is looked
    back on comes from there.
    """

    def __init__(self, config: Config, lists: Iterable[WordList], totals: Totals):
        self._config = config
        self._lists = tuple(lists)
        self._totals = totals

    def target(self, words: WordList) -> list[float]:
        """Share that each group should have, (M,), in the list's order; uniform unless configured."""
        settings = self._config.attributes.get(words.attribute)
        if settings is None or settings.target is None:
            return [1 / len(words.groups)] * len(words.groups)
        return [settings.target[group] for group in words.groups]

    def thresholds(self, attribute: str) -> Thresholds:
        """Where an attribute's verdict changes."""
        limits, settings = self._config.gate, self._config.attributes.get(attribute)
        warn = settings.warn if settings is not None and settings.warn is not None else limits.warn
        block = (
            settings.block if settings is not None and settings.block is not None else limits.block
        )
        return Thresholds(warn, block, limits.min_mentions, limits.hysteresis)

    def judge(
        self,
        figures: Figures,
        repairs: Mapping[str, Mapping[str, Any]] | None = None,
        stereotypes: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> dict[str, AttributeEntry]:
        """The attributes of the next pane. repairs, stereotypes: what was done and found
        (mending.Mended).
        """
        out: dict[str, AttributeEntry] = {}
        for words in self._lists:
            name = words.attribute
            out[name] = self._attribute(
                words, figures.attributes.get(name), (repairs or {}).get(name)
            )
            if found := (stereotypes or {}).get(name):
                out[name].stereotypes = Filtered.model_validate(found)
        return out

    def _attribute(
        self, words: WordList, seen: AttributeFigures | None, repair: Mapping[str, Any] | None
    ) -> AttributeEntry:
        seen = seen or AttributeFigures.empty(len(words.groups))
        name, target, confidence = words.attribute, self.target(words), self._config.gate.confidence
        sums = seen.sums
        if repair and "sums" in repair:
            sums = Sums.model_validate(repair["sums"])
        total = self._totals.attributes.get(name)
        rolling, came = (
            self._beside(sums, name, panes)
            for panes in (self._totals.recent_accepted, self._totals.recent)
        )
        rolled, stream = score(rolling, target, confidence), score(came, target, confidence)
        before = total.last if total is not None else None
        was = (
            before.stream_verdict.state
            if before is not None and before.stream_verdict is not None
            else None
        )
        limits = self.thresholds(name)
        return AttributeEntry(
            groups=list(words.groups),
            target=[round(share, 9) for share in target],
            sums=sums,
            pane=score(sums, target, confidence),
            rolling=rolled,
            cumulative=score(sums if total is None else add(total.sums, sums), target, confidence),
            verdict=decide(rolled, limits, before.verdict.state if before is not None else None),
            relevant_sentences=seen.relevant,
            labels=dict(
                sorted(seen.labels.items(), key=lambda item: (-item[1], item[0]))[:TOP_LABELS]
            ),
            heavy=[
                Heavy(id=each["id"], counts=each["counts"], snippet=each["snippet"])
                for each in seen.heavy
            ],
            stream=stream,
            stream_verdict=decide(stream, limits, was),
            repair=self._repair(repair, target) if repair else None,
        )

    def _beside(self, sums: Sums, name: str, panes: Sequence[Mapping[str, Sums]]) -> Sums:
        """A pane's sums with those of panes before it."""
        for each in panes:
            if name in each:
                sums = add(sums, each[name])
        return sums

    def settle(self, attributes: Mapping[str, AttributeEntry], folder: Folder) -> None:
        """Note what is in accepted/ after the pane, once it is known where that goes."""
        for name, each in attributes.items():
            total = self._totals.attributes.get(name)
            held = [each.sums] if folder == "accepted" else []
            held += [total.accepted] if total is not None else []
            each.accepted = score(
                reduce(add, held, Sums.empty(len(each.groups))),
                each.target,
                self._config.gate.confidence,
            )

    def _repair(self, repair: Mapping[str, Any], target: list[float]) -> Repair:
        before = score(Sums.model_validate(repair["before"]), target, self._config.gate.confidence)
        told = {key: value for key, value in repair.items() if key != "sums"}
        return Repair.model_validate({**told, "score_before": before.model_dump()})


def overall(
    attributes: dict[str, AttributeEntry], checked: Checks, reading: Verdict, asking: Verdict | None
) -> Verdict:
    """The pane's verdict: block where too little of it could be read or a check failed; otherwise
    the gravest of its attributes and of what the LLM left unanswered."""
    if reading.state == "block":
        return reading
    if not checked.success:
        failed = ", ".join(
            sorted({each.expectation for each in checked.failures if each.severity == "critical"})
        )
        return Verdict(state="block", reason=f"checks failed: {failed}")
    found = [(f"{name}: ", each.verdict) for name, each in attributes.items()]
    found += [("", asking)] if asking is not None and asking.state != "open" else []
    state = worst([each.state for _, each in found])
    return Verdict(
        state=state,
        reason="; ".join(f"{name}{each.reason}" for name, each in found if each.state == state),
    )
