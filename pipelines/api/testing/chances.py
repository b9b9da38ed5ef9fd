"""Tests of parts that give probabilities: detectors of stereotypes, and judges of exchanges."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, ClassVar

from evenflow.schemas.plugins import DETECTORS, JUDGES, load
from evenflow.testing.common import AWKWARD, SEEDS, in_another_process
from evenflow.transforms.measures.stereotypes.detect import THRESHOLD
from evenflow.transforms.substitution.reading import MIN_PROBABILITY

Question = tuple[str, Sequence[tuple[Any, ...]]]  # a text, and places in it
ASK = """
import json, sys
from evenflow.testing.chances import ask
print(json.dumps(ask(*sys.argv[1].split(" ", 1), json.load(sys.stdin))))
"""


def ask(kind: str, name: str, questions: Sequence[Question]) -> list[float | None]:
    """What a part says of each question; it is loaded anew."""
    load.cache_clear()
    plugin = load(kind, name)
    if kind == DETECTORS:
        texts, words = [text for text, _ in questions], [own for _, own in questions]
        return plugin.chances(len(texts), lambda: plugin.part.detect(texts, words))
    found: list[float | None] = []
    for text, changes in questions:
        found += plugin.chances(1, lambda: plugin.part.judge(text, [changes]))  # noqa: B023 (asked at once)
    return found


class _ChanceTests:
    """What both kinds of part must do.

    `kind`: The part's group of entry points.
    """

    kind: ClassVar[str]
    least: ClassVar[float]
    part: ClassVar[str]
    examples: ClassVar[Sequence[tuple[str, Sequence[tuple[Any, ...]], bool]]]

    @property
    def questions(self) -> list[Question]:
        """All that is asked: the examples, and texts that go wrong, with a place at their start."""
        place = (0, 1) if self.kind == DETECTORS else (0, 1, "x")
        return [*((text, own) for text, own, _ in self.examples), *((t, [place]) for t in AWKWARD)]

    def said(self, questions: Sequence[Question]) -> list[float | None]:
        """What the part says, loaded anew and checked as in the gate."""
        return ask(self.kind, self.part, questions)

    def test_examples_are_right(self) -> None:
        """Each example has the answer that it should have; one at least is yes."""
        assert any(right for *_, right in self.examples), "examples: a yes was expected"
        for text, own, right in self.examples:
            [chance] = self.said([(text, own)])
            assert (chance or 0) >= self.least if right else (chance or 0) < self.least, text

    def test_any_text_is_answered(self) -> None:
        """No text is an error, and what is said are probabilities."""
        self.said(self.questions)

    def test_each_text_is_answered_alone(self) -> None:
        """An answer does not depend on the other texts, on their order, or on threads."""
        first = self.said(self.questions)
        assert self.said(self.questions[::-1])[::-1] == first, "the order of texts matters"
        assert [self.said([each])[0] for each in self.questions] == first, "other texts matter"
        with ThreadPoolExecutor(4) as pool:
            for said in pool.map(self.said, [self.questions] * 4):
                assert said == first, "threads disturb each other"

    def test_every_process_says_the_same(self) -> None:
        """Neither the process nor the order of its sets (PYTHONHASHSEED) matters."""
        expected = self.said(self.questions)
        for seed in SEEDS:
            said = in_another_process(ASK, f"{self.kind} {self.part}", self.questions, seed)
            assert said == expected, f"PYTHONHASHSEED={seed}: other answers"


class DetectorTests(_ChanceTests):
    """Tests of a detector (evenflow.detectors), for a class whose name begins with Test.

    Attributes:
        part: The plug-in's name, or its place (MODULE:NAME).
        examples: Sentences, of each the words (start, end) that name groups, and whether it may
            state a stereotype, which is from a probability of 0.3.
    """

    kind, least = DETECTORS, THRESHOLD


class JudgeTests(_ChanceTests):
    """Tests of a judge (evenflow.judges), for a class whose name begins with Test.

    Attributes:
        part: The plug-in's name, or its place (MODULE:NAME).
        examples: Texts, of each the changes (start, end, what stands there then) of one exchange,
            and whether it is right, which is from a probability of 0.8.
    """

    kind, least = JUDGES, MIN_PROBABILITY
