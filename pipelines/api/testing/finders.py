"""Tests of finders of mentions (evenflow.attributes)."""

from __future__ import annotations

import pickle
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import ClassVar

from evenflow.annotator import Annotator
from evenflow.schemas.plugin_finder import PluginFinder
from evenflow.schemas.plugins import load
from evenflow.testing.common import AWKWARD, SEEDS, in_another_process

Mention = tuple[int, int, str]  # start, end and group
FIND = """
import json, sys
from evenflow.schemas.plugin_finder import PluginFinder
finder = PluginFinder(sys.argv[1])
print(json.dumps([finder.find(text) for text in json.load(sys.stdin)]))
"""


class FinderTests:
    """Tests of a finder of mentions (evenflow.attributes), for a class whose name begins with Test.

    Attributes:
        finder: The plug-in's name, or its place (MODULE:NAME).
        examples: Texts with the mentions in each: start, end and group, in order.
    """

    finder: ClassVar[str]
    examples: ClassVar[Mapping[str, Sequence[Mention]]]

    @property
    def texts(self) -> list[str]:
        """All texts that are tried."""
        return [*self.examples, "\n\n".join(self.examples), *AWKWARD]

    def fresh(self) -> PluginFinder:
        """The finder, loaded anew; it checks its results as in the gate."""
        load.cache_clear()
        return PluginFinder(self.finder)

    def found(self, texts: Sequence[str]) -> list[list[tuple[int, int, int]]]:
        """What a fresh finder finds."""
        return list(map(self.fresh().find, texts))

    def test_examples_are_found(self) -> None:
        """Each example has exactly its mentions, and one at least has some."""
        assert any(self.examples.values()), "examples: a text with a mention was expected"
        finder = self.fresh()
        for text, expected in self.examples.items():
            mentions = [(a, b, finder.groups[group]) for a, b, group in finder.find(text)]
            assert mentions == list(expected), f"{text!r}: {mentions}, not {list(expected)}"

    def test_any_text_is_searched(self) -> None:
        """No text is an error, and offsets are in order and within the text."""
        self.found(self.texts)

    def test_each_text_is_searched_alone(self) -> None:
        """What a text has does not depend on the texts before it, or on other threads."""
        first = self.found(self.texts)
        assert self.found(self.texts[::-1])[::-1] == first, "the order of texts matters"
        finder = self.fresh()
        assert list(map(finder.find, self.texts * 2)) == first * 2, "a text is not found again"
        with ThreadPoolExecutor(4) as pool:
            together = list(pool.map(finder.find, self.texts * 4))
        assert together == first * 4, "threads disturb each other"

    def test_every_process_finds_the_same(self) -> None:
        """Neither the process nor the order of its sets (PYTHONHASHSEED) matters."""
        texts = [text for text in self.texts if "\ud800" not in text]
        expected = [[list(each) for each in every] for every in self.found(texts)]
        for seed in SEEDS:
            found = in_another_process(FIND, self.finder, texts, seed)
            assert found == expected, f"PYTHONHASHSEED={seed}: other mentions"

    def test_the_gate_counts_the_examples(self) -> None:
        """`evenflow.Annotator` counts the mentions, also after it was pickled."""
        annotator = Annotator({"attributes.plugin.finder": self.finder})
        copy: Annotator = pickle.loads(pickle.dumps(annotator))
        texts = list(self.examples)
        for each in (annotator, copy):
            for text, annotation in zip(texts, each.annotate_many(texts), strict=True):
                groups = [group for _, _, group in self.examples[text]]
                counts = annotation.counts["plugin"]
                assert counts == {name: groups.count(name) for name in counts}, text
