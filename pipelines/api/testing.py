"""Tests that the author of a plug-in runs, by pytest.

    from evenflow.testing import FinderTests

    class TestTitledPeople(FinderTests):
        finder = "titled"
        examples = {"Mr. Darcy left.": [(0, 9, "men")]}

They say whether the plug-in finds what the examples say, and whether the gate may rely on it: the
same mentions for the same text, in any order of texts, process and thread.
"""

from __future__ import annotations

import json
import os
import pickle
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from evenflow.annotator import Annotator
from evenflow.schemas.plugins import PluginFinder, load

Mention = tuple[int, int, str]  # start, end and group
# Texts that go wrong where characters are taken for bytes, words for ASCII, or a text for a line
AWKWARD = (
    " ",
    "\n\n",
    "\x00",
    "\ud800 half a pair",
    "e\u0301te\u0301 \u200d \u202e",
    "\U0001f469\u200d\U0001f4bb \U0001f1e9\U0001f1ea",
    "\u5979\u662f\u8001\u5e2b\u3002",
    "word " * 20_000,
    "x" * 100_000,
    "(" * 1000 + "\\" * 1000,
)
SPEED_BYTES = 1 << 20  # how much text the speed is measured on
CHILD = """
import json, sys
from evenflow.schemas.plugins import PluginFinder
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
        for seed in ("1", "2"):
            child = subprocess.run(
                [sys.executable, "-c", CHILD, self.finder],
                input=json.dumps(texts),
                capture_output=True,
                text=True,
                env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
            )
            assert child.returncode == 0, child.stderr
            assert json.loads(child.stdout) == expected, f"PYTHONHASHSEED={seed}: other mentions"

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

    def test_speed_is_printed(self, capsys: Any) -> None:
        """The speed on the examples is printed; none is demanded."""
        text = "\n".join(self.examples) + "\n"
        texts = [text] * -(-SPEED_BYTES // len(text.encode()))
        began = time.process_time()
        self.found(texts)
        speed = sum(len(each.encode()) for each in texts) / 1e6 / (time.process_time() - began)
        with capsys.disabled():
            print(f"\n{self.finder}: {speed:.1f} MB/s of CPU, on its examples repeated")
