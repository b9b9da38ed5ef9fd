"""Explains texts under a configuration: sentences and labels, counterfactuals, stereotypes."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from rich.text import Text

from evenflow.pipelines.explain import document as explaining
from evenflow.pipelines.terminal.lines import visible
from evenflow.schemas.config import Config
from evenflow.transforms.annotation.annotate import attributes
from evenflow.transforms.annotation.mentions import MentionCounter
from evenflow.transforms.io.records import Documents
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures import registry

if TYPE_CHECKING:
    from evenflow.transforms.substitution.counterfactuals import Method


class Explainer:
    """Explains texts; built once for many of them.

    Args:
        config: Its attributes are looked for, at its least probability and thresholds.
        counterfactual: Method that rewrites every eligible sentence: gc (grammar and context) or
            base (BaseCDA). None rewrites nothing.
        source: Only mentions of this group are rewritten; None for any group.
        target: Mentions are rewritten to this group only; None for any group.
        stereotypes: Whether sentences that name a group are judged.
        all_sentences: Whether sentences that name no group are judged too.
        bias_score: Whether sentences are scored by what their words lean to.
        importance: Folder of a transformer that says how much each word then counts; None: how rare
            it is says so.

    Attributes:
        most: Most characters of a text.

    Raises:
        ValueError: No attribute has the group source or target.
        WordListError: A word list cannot be used.
        ModelError: A shipped model cannot be loaded.
    """

    def __init__(
        self,
        config: Config,
        counterfactual: Method | None = None,
        source: str | None = None,
        target: str | None = None,
        stereotypes: bool = False,
        all_sentences: bool = False,
        bias_score: bool = False,
        importance: str | None = None,
    ):
        lists = config.word_lists()
        self.finder = LabelFinder(lists)
        self.most = config.max_text_mib << 20
        self._steps: list[tuple[Callable[[dict[str, Any]], None], Callable[..., Text]]] = []
        known = registry.of(config)
        counted = registry.counters(config, lists).items()
        if counters := {name: each for name, each in counted if known[name].in_explain}:
            self._counter = MentionCounter(lists, attributes(config, lists), counters)
            self._steps.append((self._add_measures, _measures))
        if counterfactual is not None:
            # Models take a part of a second, which plain texts need not wait for
            from evenflow.pipelines.explain.counterfactual import Rewriter, difference
            from evenflow.transforms.substitution import reading

            judge = reading.judge_of(config) if counterfactual == "gc" else None
            bar = registry.bar(lists) if counterfactual == "gc" else None  # BaseCDA knows none
            rewriter = Rewriter(lists, counterfactual, source, target, config, judge, bar)
            self._steps.append((rewriter.add_to, difference))
        if stereotypes or all_sentences:
            from evenflow.pipelines.explain import stereotypes as judging

            judge = judging.Stereotypes(config, all_sentences)
            self._steps.append((judge.add_to, judging.summary))
        if bias_score:
            from evenflow.pipelines.explain import bias_score as scoring
            from evenflow.transforms.measures.bias_score import signal

            own, shares = signal.of(config), None
            if importance is not None:
                from evenflow.transforms.measures.bias_score.pooled import PooledShares

                shares = PooledShares(importance)
            self._steps.append((scoring.BiasExplainer(own, shares).add_to, scoring.summary))

    def explain(self, identity: str, text: str) -> dict[str, Any]:
        """Explain a text.

        Returns:
            The document as `evenflow explain --json` prints it.
        """
        return self._completed(explaining.explain(identity, text, self.finder))

    def explain_lines(self, lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
        """Explain documents that come as JSON lines.

        Args:
            lines: Objects with a text and, if they have one, an id; blank lines are passed over.

        Yields:
            Each document as `explain` returns it; of a line that is no document, its number (from
            1) as "line" and what is wrong as "error".
        """
        for document in explaining.explain_lines(lines, self.finder, self.most):
            yield document if "error" in document else self._completed(document)

    def _add_measures(self, document: dict[str, Any]) -> None:
        """Add to a document what measures count of it, by their names."""
        found = Documents("", [document["id"]], [document["text"]], [0])
        document["measures"] = self._counter.count(found).figures.measures

    def drawn(self, document: Mapping[str, Any]) -> Iterator[Text]:
        """Yield what was added to a document, drawn for a terminal."""
        for _, draw in self._steps:
            yield draw(document)

    def _completed(self, document: dict[str, Any]) -> dict[str, Any]:
        """The document with its counterfactuals and stereotypes."""
        for add_to, _ in self._steps:
            add_to(document)
        return document


def _measures(document: Mapping[str, Any]) -> Text:
    """What measures count of a document, a line each."""
    found = document["measures"].items()
    return Text("".join(f"{name}: {visible(json.dumps(counted))}\n" for name, counted in found))
