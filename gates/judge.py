"""Judges panes in order: scores of the pane, the last k (rolling) and all so far (cumulative), and the verdict from them."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Mapping
from typing import Any

from evenflow.gates.verdict import Thresholds, decide, worst
from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import AttributeEntry, Checks, Filtered, Heavy, PaneEntry, Repair, State, Sums, Verdict
from evenflow.transforms.representation import add, score
from evenflow.wordlists.loader import WordList

TOP_LABELS = 40  # labels a pane and attribute that the ledger keeps


class Judge:
    """Holds what rolling and cumulative scores look back on; everything in it comes from the ledger's entries."""

    def __init__(self, config: Config, lists: Iterable[WordList], entries: Iterable[PaneEntry]):
        self._config = config
        self._lists = tuple(lists)
        self._recent: deque[PaneEntry] = deque(maxlen=max(config.pane.rolling - 1, 1))
        self._total: dict[str, Sums] = {}
        for entry in entries:
            self.remember(entry)

    def remember(self, entry: PaneEntry) -> None:
        """Take a committed pane into the look-back."""
        self._recent.append(entry)
        for name, each in entry.attributes.items():
            self._total[name] = add(self._total[name], each.sums) if name in self._total else each.sums

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
        block = settings.block if settings is not None and settings.block is not None else limits.block
        return Thresholds(warn, block, limits.min_mentions, limits.hysteresis)

    def judge(
        self,
        figures: Figures,
        repairs: Mapping[str, Mapping[str, Any]] | None = None,
        stereotypes: Mapping[str, Mapping[str, Any]] | None = None,
    ) -> dict[str, AttributeEntry]:
        """The attributes of the next pane. repairs, stereotypes: what was done and found (mending.Mended)."""
        out: dict[str, AttributeEntry] = {}
        for words in self._lists:
            name = words.attribute
            out[name] = self._attribute(words, figures.attributes.get(name), (repairs or {}).get(name))
            if found := (stereotypes or {}).get(name):
                out[name].stereotypes = Filtered.model_validate(found)
        return out

    def _attribute(self, words: WordList, seen: AttributeFigures | None, repair: Mapping[str, Any] | None) -> AttributeEntry:
        seen = seen or AttributeFigures.empty(len(words.groups))
        name, target, confidence = words.attribute, self.target(words), self._config.gate.confidence
        sums = Sums(documents=seen.documents, counts=seen.counts, products=seen.products)
        if repair and "sums" in repair:
            sums = Sums.model_validate(repair["sums"])
        rolling = sums
        for entry in self._recent if self._config.pane.rolling > 1 else ():
            rolling = add(rolling, entry.attributes[name].sums)
        cumulative = add(self._total[name], sums) if name in self._total else sums
        rolled = score(rolling, target, confidence)
        previous: State | None = self._recent[-1].attributes[name].verdict.state if self._recent else None
        return AttributeEntry(
            groups=list(words.groups),
            target=[round(share, 9) for share in target],
            sums=sums,
            pane=score(sums, target, confidence),
            rolling=rolled,
            cumulative=score(cumulative, target, confidence),
            verdict=decide(rolled, self.thresholds(name), previous),
            relevant_sentences=seen.relevant,
            labels=dict(sorted(seen.labels.items(), key=lambda item: (-item[1], item[0]))[:TOP_LABELS]),
            heavy=[Heavy(id=each["id"], counts=each["counts"], snippet=each["snippet"]) for each in seen.heavy],
            repair=self._repair(repair, target) if repair else None,
        )

    def _repair(self, repair: Mapping[str, Any], target: list[float]) -> Repair:
        before = score(Sums.model_validate(repair["before"]), target, self._config.gate.confidence)
        told = {key: value for key, value in repair.items() if key != "sums"}
        return Repair.model_validate({**told, "score_before": before.model_dump()})


def overall(attributes: dict[str, AttributeEntry], checked: Checks) -> Verdict:
    """The pane's verdict: the gravest of its attributes; block where a check failed."""
    if not checked.success:
        failed = ", ".join(sorted({each.expectation for each in checked.failures if each.severity == "critical"}))
        return Verdict(state="block", reason=f"checks failed: {failed}")
    state = worst([each.verdict.state for each in attributes.values()])
    reasons = [f"{name}: {each.verdict.reason}" for name, each in attributes.items() if each.verdict.state == state]
    return Verdict(state=state, reason="; ".join(reasons))
