"""Judges panes in order.

Each pane gets three scores: its own, one together with the last accepted panes (rolling), and one
together with all panes so far (cumulative). The verdict comes from the rolling score.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import reduce
from typing import Any

from evenflow.gates.ledger import spans
from evenflow.gates.ledger.combine import add_sums
from evenflow.gates.ledger.totals import AttributeTotals, Totals
from evenflow.gates.weights import explained
from evenflow.schemas.config import Config
from evenflow.schemas.documents import AttributeFigures, Figures
from evenflow.schemas.ledger import (
    BAD,
    AttributeEntry,
    Heavy,
    Measured,
    PaneEntry,
    People,
    Repair,
    State,
    Sums,
    Verdict,
    Weights,
)
from evenflow.transforms.measures import registry
from evenflow.transforms.measures.representation.dr import score, scores
from evenflow.transforms.measures.representation.people import UNIT, doubted, shipped_doubt
from evenflow.transforms.measures.verdict import Thresholds, decide, worst
from evenflow.wordlists.loader import WordList

TOP_LABELS = 40  # labels of a pane and attribute that the ledger keeps


class PaneJudge:
    """Judges the next pane of a run."""

    def __init__(self, config: Config, lists: Iterable[WordList], totals: Totals):
        """Prepare a judge."""
        self._config = config
        self._lists = tuple(lists)
        self._totals = totals

    def target(self, words: WordList) -> list[float]:
        """Shares that the groups should have.

        Returns:
            Shares in the list's order, (M,); equal unless the configuration or the list has others.
        """
        return self._config.target(words) or [1 / len(words.groups)] * len(words.groups)

    def thresholds(self, attribute: str) -> Thresholds:
        """The thresholds of an attribute's verdict."""
        warn, block = self._config.thresholds(attribute)
        limits = self._config.gate
        few = "not_judged" if limits.few == "open" else limits.few
        return Thresholds(warn, block, limits.min_mentions, limits.hysteresis, few)

    def window(self, words: WordList) -> tuple[Sums, Callable[[Sums], State]]:
        """What a verdict on the next pane's attribute is made from, besides the pane.

        Returns:
            Sums of the accepted panes in the rolling window, and a function that returns the state
            of a window with given sums. Not for weighted panes.
        """
        name, total = words.attribute, self._totals.attributes.get(words.attribute)
        before = total.last.verdict.state if total is not None else None
        target, limits = self.target(words), self.thresholds(name)

        def state(sums: Sums) -> State:
            found = score(sums, target, self._config.gate.confidence)
            return decide(found, limits, before).state

        nothing = Sums.empty(len(words.groups))
        return self._with_earlier(nothing, name, self._totals.recent_accepted), state

    def judge(
        self,
        figures: Figures,
        repairs: Mapping[str, Mapping[str, Any]] | None = None,
        weights: Weights | None = None,
        weighed: Mapping[str, Sums] | None = None,
    ) -> dict[str, AttributeEntry]:
        """Judge the next pane.

        Args:
            repairs: What the repair did, by attribute (documents.RepairedPane).
            weights: The documents' weights; None without mode weight.
            weighed: Weighted sums, by attribute.

        Returns:
            The ledger's entry of each attribute. `conclude` completes them.
        """
        return {
            name: self._attribute(
                words,
                figures.attributes.get(name) or AttributeFigures.empty(len(words.groups)),
                (repairs or {}).get(name),
                weights,
                (weighed or {}).get(name),
            )
            for words in self._lists
            for name in [words.attribute]
        }

    def measures(self, figures: Figures) -> dict[str, Measured]:
        """Have measures that are on judge the next pane."""
        found: dict[str, Measured] = {}
        for name, each in registry.of(self._config).items():
            counted, totals = figures.measures.get(name, {}), self._totals.measures.get(name)
            record = each.judge(self._config, self._lists, counted, totals)
            found |= {} if record is None else {name: record}
        return found

    def _attribute(
        self,
        words: WordList,
        seen: AttributeFigures,
        repair: Mapping[str, Any] | None,
        weights: Weights | None,
        weighed: Sums | None,
    ) -> AttributeEntry:
        """The entry of one attribute."""
        name, target, confidence = words.attribute, self.target(words), self._config.gate.confidence
        total = self._totals.attributes.get(name)
        sums, people = (seen.sums if weighed is None else weighed), None
        if self._config.measure.count == "people":
            sums, people = self._people(seen, total, target, words)
        # Weights continue what was accepted before, so all of it is judged
        continued = weights is not None and name in weights.attributes
        earlier: Sequence[Mapping[str, Sums]] = self._totals.recent_accepted
        if continued:
            earlier = [] if total is None else [{name: total.accepted}]
        doubt = 0.0 if people is None else people.doubt
        # Nothing is too few for ever: where the rolling panes are, all that was accepted counts
        if not continued and total is not None:
            rolling_mentions = sum(self._with_earlier(sums, name, earlier).counts)
            if rolling_mentions < self._config.gate.min_mentions:
                earlier = [{name: total.accepted}]

        every = [
            sums,
            add_sums(total and total.sums, sums),
            self._with_earlier(sums, name, earlier),
            self._with_earlier(sums, name, self._totals.recent),
        ]
        pane, cumulative, rolling, stream = scores(
            [doubted(each, doubt) for each in every], target, confidence
        )
        last = None if total is None else total.last
        last_state = None if last is None else last.verdict.state
        last_of_stream = None if last is None else last.stream_verdict
        limits = self.thresholds(name)
        of = "weighted DR of accepted/" if continued else ""
        return AttributeEntry(
            groups=list(words.groups),
            target=[round(share, 9) for share in target],
            sums=sums,
            pane=pane,
            rolling=rolling,
            cumulative=cumulative,
            verdict=explained(decide(rolling, limits, last_state, of), name, weights),
            relevant_sentences=seen.relevant,
            labels=_top(seen.labels),
            heavy=[
                Heavy(id=each["id"], counts=each["counts"], snippet=each["snippet"])
                for each in seen.heavy
            ],
            stream=stream,
            stream_verdict=decide(stream, limits, last_of_stream and last_of_stream.state),
            repair=self._repair(repair, target) if repair else None,
            unweighted=None if weighed is None else seen.sums,
            people=people,
        )

    def _people(
        self,
        seen: AttributeFigures,
        total: AttributeTotals | None,
        target: list[float],
        words: WordList,
    ) -> tuple[Sums, People]:
        """The sums of people, and the figures of words beside them."""
        confidence, people = self._config.gate.confidence, seen.people
        every = add_sums(total and total.words, seen.sums)
        chances = {} if people is None else people.labels
        estimate = None if people is None else people.estimate
        sums = Sums.model_validate(estimate) if estimate else Sums.empty(len(words.groups))
        doubt = shipped_doubt(words.attribute)
        wide = doubted(add_sums(total and total.sums, sums), doubt)
        return sums, People(
            words=seen.sums,
            pane=score(seen.sums, target, confidence),
            cumulative=score(every, target, confidence),
            labels={label: round(chances.get(label, 0) / UNIT, 1) for label in _top(seen.labels)},
            passages=0 if people is None else people.read,
            doubt=doubt,
            against={
                of: score(wide, shares, confidence) for of, shares in words.references.items()
            },
        )

    def _with_earlier(self, sums: Sums, name: str, panes: Sequence[Mapping[str, Sums]]) -> Sums:
        """A pane's sums plus those of earlier panes."""
        return reduce(add_sums, (each[name] for each in panes if name in each), sums)

    def conclude(self, entry: PaneEntry, figures: Figures, shifted: Measured | None = None) -> None:
        """Complete the entry of the next pane by its records of measures, verdict and folder.

        What accepted/ holds after the pane is scored too.

        Args:
            entry: The entry, with the verdict on what could be read in the place of its verdict.
        """
        entry.measures = self.measures(figures) | ({} if shifted is None else {"shift": shifted})
        entry.verdict = overall(entry)
        entry.folder = entry.verdict.folder
        for name, each in entry.attributes.items():
            total = self._totals.attributes.get(name)
            held = [each.sums] if entry.folder == "accepted" else []
            held += [total.accepted] if total is not None else []
            accepted = reduce(add_sums, held, Sums.empty(len(each.groups)))
            each.accepted = score(
                doubted(accepted, 0.0 if each.people is None else each.people.doubt),
                each.target,
                self._config.gate.confidence,
            )

    def _repair(self, repair: Mapping[str, Any], target: list[float]) -> Repair:
        """The ledger's record of a repair, with the score before it."""
        before = score(Sums.model_validate(repair["before"]), target, self._config.gate.confidence)
        return Repair.model_validate({**repair, "score_before": before.model_dump()})


def _top(labels: Mapping[str, int]) -> dict[str, int]:
    """The most frequent labels."""
    return dict(sorted(labels.items(), key=lambda item: (-item[1], item[0]))[:TOP_LABELS])


def overall(entry: PaneEntry) -> Verdict:
    """Combine the verdicts on a pane."""
    if entry.reading is not None and entry.reading.state == "block":
        return entry.reading
    if not entry.checks.success:
        critical = [each for each in entry.checks.failures if each.severity == "critical"]
        failed = ", ".join(sorted({each.expectation for each in critical}))
        return Verdict(state="block", reason=f"checks failed: {failed}")
    found = [
        (name, each)
        for name, each in spans.verdicts(entry)
        if name in entry.attributes or each.state in BAD
    ]
    state = worst([each.state for _, each in found])
    reasons: dict[str, list[str]] = {}  # with what they are of
    for name, each in found:
        if each.state == state:
            reasons.setdefault(each.reason, []).extend([name] * (each is not entry.asking))
    said = (f"{', '.join(of)}: {each}" if of else each for each, of in reasons.items())
    return Verdict(state=state, reason="; ".join(said))
