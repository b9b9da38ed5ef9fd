"""Explains texts under a configuration: sentences and labels, counterfactuals, stereotypes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from evenflow.pipelines.explain import document as explaining
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
        config: Its attributes are looked for, at its strictness and thresholds.
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
        finder: Finds the labels.
        rewrites: Whether sentences are rewritten.
        judges: Whether sentences are judged.
        scores: Whether sentences are scored.
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
        self.rewrites = counterfactual is not None
        self.judges = stereotypes or all_sentences
        self.scores = bias_score
        self._steps = []
        if counters := registry.counters(config, lists):
            self._counter = MentionCounter(lists, attributes(config, lists), counters)
            self._steps.append(self._add_measures)
        if counterfactual is not None:
            # Models take a part of a second, which plain texts need not wait for
            from evenflow.pipelines.explain.counterfactual import Rewriter
            from evenflow.transforms.measures.stereotypes.bar import StereotypeBar
            from evenflow.transforms.substitution import reading

            judge = reading.DocumentJudge.shipped() if counterfactual == "gc" else None
            strictness = {
                each.attribute: reading.strictness(config, each.attribute) for each in lists
            }
            bar = StereotypeBar(lists)
            rewriter = Rewriter(lists, counterfactual, source, target, strictness, judge, bar)
            self._steps.append(rewriter.add_to)
        if self.judges:
            from evenflow.pipelines.explain import stereotypes as stereotyping

            thresholds = {
                each.attribute: config.stereotype_threshold(each.attribute) for each in lists
            }
            own = config.stereotypes
            acts_on_creeds = own.creeds == "policy"
            judging = stereotyping.judge(
                lists, thresholds, own.precision, acts_on_creeds, all_sentences
            )
            self._steps.append(judging.add_to)

        if bias_score:
            from evenflow.pipelines.explain.bias_score import BiasExplainer
            from evenflow.transforms.measures.bias_score import signal

            own, shares = signal.of(config), None
            if importance is not None:
                from evenflow.transforms.measures.bias_score import contextual
                from evenflow.transforms.measures.bias_score.vectors import VectorsError

                if isinstance(own.vectors, contextual.ContextualVectors):
                    raise VectorsError(
                        f"{own.vectors.name}: these vectors say how much each word counts; take"
                        " --importance away, or give vectors of a file"
                    )
                shares = contextual.load(importance).shares
            self._steps.append(BiasExplainer(own, shares).add_to)

    def explain(self, identity: str, text: str) -> dict[str, Any]:
        """Explain a text.

        Args:
            identity: Its id.
            text: The text.

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
        document["measures"] = self._counter.count(found)[0].measures

    def _completed(self, document: dict[str, Any]) -> dict[str, Any]:
        """The document with its counterfactuals and stereotypes."""
        for add_to in self._steps:
            add_to(document)
        return document
