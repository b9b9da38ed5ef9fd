"""What is written for a plan, and why candidates are rejected."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from evenflow.prompts import loader
from evenflow.schemas.config import Config
from evenflow.transforms.lab.generation import limits
from evenflow.transforms.lab.generation.checks import NEAR, REASONS, Checker, Shingles
from evenflow.transforms.lab.generation.items import Draft, items
from evenflow.transforms.lab.generation.templates import Corpus, GroupCounter
from evenflow.transforms.lab.generation.writers import LlmWriter, Material
from evenflow.transforms.lab.generation.writing import Generated, Marks, generate
from evenflow.transforms.llm.questions import Answer, Question
from evenflow.transforms.measures.coverage.knowledge import Knowledge

KB = """id,name,gender,employer
1,Ada Ruiz,female,Mill
2,Bea Ito,female,North
3,Carl Moe,male,Mill
4,Dan Poe,male,North
5,Eva Gray,female,
5,Eva Gray,male,
5,,,Mill
6,Fay Lund,female,South
"""
TRIPLES = [
    ("For ten years Carl Moe worked as a clerk at Mill.", "Carl Moe", "employer", "Mill"),
    ("In spring Dan Poe worked nights at North.", "Dan Poe", "employer", "North"),
    ("His boss at Mill told Carl Moe that his wages were late.", "Carl Moe", "employer", "Mill"),
    ("Carl Moe was born in Rome.", "Carl Moe", "birthplace", "Rome"),
    ("Dan Poe was born in Rome.", "Dan Poe", "birthplace", "Rome"),
]


def plan(*additions: tuple[int, dict[str, str]]) -> dict[str, Any]:
    return {
        "additions": [{"records": n, "target": target} for n, target in additions],
        "words": [f"add {n}" for n, _ in additions],
    }


def kb(tmp_path: Path) -> Knowledge:
    path = tmp_path / "kb.csv"
    path.write_text(KB)
    return Knowledge.read(path)


def triples(tmp_path: Path) -> str:
    path = tmp_path / "t.jsonl"
    names = ("text", "subject", "relation", "object")
    path.write_text("".join(json.dumps(dict(zip(names, e, strict=True))) + "\n" for e in TRIPLES))
    return str(path)


def test_stereotypes_are_rejected_where_the_gate_looks_for_them(tmp_path: Path) -> None:
    config = Config.model_validate({"stereotypes": {"action": "remove"}})
    counter = GroupCounter(config, ["gender"])
    checker = Checker(Corpus([]), counter, None, [limits.stereotype(config)])
    [item], _ = items(plan((2, {"gender": "female"})), ["gender"], None)
    texts = ["Women are too emotional to be good leaders.", "Two women waited for the bus."]
    found = [checker.check(Draft(each, "a"), item)[1] for each in texts]
    assert found == ["stereotype", None]


def test_a_band_is_of_the_corpus_own_sentences() -> None:
    asked: list[str] = []

    def perplexities(texts: Sequence[str]) -> list[float]:
        asked.extend(texts)
        return [float(each.split()[0]) for each in texts]

    band = limits.perplexity(perplexities, [f"{n} women" for n in range(1001)], "m")
    assert len(asked) == len(set(asked)) == limits.SAMPLE == band.told["sentences"]
    # The percentiles of numbers from 0 to 1000, from 400 of them that are drawn
    low, high = (float(str(band.told[each])) for each in ("low", "high"))
    assert low == pytest.approx(25, abs=25) and high == pytest.approx(975, abs=25)
    tried = (low - 1, low + 1, high - 1, high + 1, math.inf)
    assert [each for each in tried if band.check(str(each))[0]] == [low + 1, high - 1]
    empty = limits.perplexity(perplexities, [], "m")
    assert empty.told["low"] is None and empty.check("5")[0]


def test_without_a_knowledge_base_nothing_is_invented(tmp_path: Path) -> None:
    counter = GroupCounter(Config(), ["relation"])
    material = Material(Corpus.read([triples(tmp_path)], Config(), counter), None, 0)
    [item], _ = items(plan((1, {"relation": "employer"})), counter.named, None)
    assert not material.next(item, 1) and "knowledge base" in material.ending(item)


def test_no_text_is_said_to_be_from_a_source_that_it_is_not_from(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text(json.dumps({"text": "Two men carried the boxes.", "site": "a"}))
    counter = GroupCounter(Config(), ["gender", "site"])
    corpus = Corpus.read([str(path)], Config(), counter)
    asked, _ = items(
        plan(*((1, {"gender": "female", "site": at}) for at in "ab")), ["gender"], None
    )
    assert [len(corpus.fitting(each, 0)) for each in asked] == [1, 0]


class Scripted:
    """Answers with texts in turn."""

    def __init__(self, texts: Sequence[str | None], relation: str | None = "worked"):
        self.texts, self.relation = list(texts), relation
        self.asked: list[Question] = []

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        self.asked += questions
        texts = [self.texts.pop(0) for _ in questions]
        return [
            Answer(None, "fallback", "no server")
            if text is None
            else Answer({"text": text, "relation": self.relation}, "model")
            for text in texts
        ]


@pytest.fixture
def asked_for(tmp_path: Path) -> Callable[..., tuple[Generated, Scripted]]:
    """Has a scripted model write a record of Bea Ito's employer."""

    def run(
        *texts: str | None, relation: str | None = "worked", within: Sequence[limits.Limit] = ()
    ) -> tuple[Generated, Scripted]:
        config, knowledge = Config(), kb(tmp_path)
        knowledge.entities = {
            key: each for key, each in knowledge.entities.items() if key not in ("1", "6")
        }
        counter = GroupCounter(config, ["subject.gender", "relation"])
        corpus = Corpus.read([triples(tmp_path)], config, counter)
        asker = Scripted(texts, relation)
        writer = LlmWriter(Material(corpus, knowledge, 0), counter, asker, "m")
        checker = Checker(corpus, counter, knowledge, within)
        target = {"subject.gender": "female", "relation": "employer"}
        wanted, _ = items(plan((1, target)), counter.named, knowledge)
        marks = Marks("p", "text", "id", knowledge)
        return generate(wanted, writer, checker, len(texts), marks), asker

    return run


GOOD = "After school Bea Ito worked in the laboratory of North for a summer."
RULE = "adds no fact about named persons or places beyond the relation"
BAD = [
    (None, "no answer"),
    ("A line.\nBea Ito worked at North.", "form"),
    (f"Bea Ito worked at North and {RULE}.", "prompt"),
    (str(loader.load("generation").examples[0][1]["text"]), "example"),
    ("For ten years Bea Ito worked as a clerk at North.", "example"),
    ("In spring Bea Ito worked nights at North.", "example"),
    ("She worked at North for most of the year.", "entities"),
    ("Bea Ito, who worked at North, liked Bea Ito.", "entities"),
    ("Bea Ito walked past the gates of North on a Sunday.", "relation"),
    ("Bea Ito worked at North before she went on to Mill.", "facts"),
    ("Bea Ito worked at North with his old colleague.", "attributes"),
    ("Bea Ito worked at North until the war of 1914.", "support"),
    ("Bea Ito worked at North with Lenin.", "support"),
    ("<b>Bea Ito</b> worked at North.", "markup"),
    ("- Bea Ito worked at North.", "markup"),
]


@pytest.mark.parametrize(("text", "reason"), BAD)
def test_a_rejected_candidate_is_counted_and_asked_for_again(
    asked_for: Callable[..., tuple[Generated, Scripted]], text: str | None, reason: str
) -> None:
    done, asker = asked_for(text, GOOD)
    assert done.rejected == {reason: 1}
    [record] = done.records
    assert record["text"] == GOOD and record["model"] == "m"
    assert record["prompt"] == loader.load("generation").digest
    contents = [json.loads(each.messages[-1]["content"]) for each in asker.asked]
    assert [len(each["refused"]) for each in contents] == [0, 1]
    assert {each["subject"] for each in contents} == {"Bea Ito"}


def test_a_candidate_beyond_a_limit_is_asked_for_again(
    asked_for: Callable[..., tuple[Generated, Scripted]],
) -> None:
    own = [
        limits.Limit("stereotype", lambda text: ("lovely" not in text, 0.5)),
        limits.Limit("perplexity", lambda text: ("lab the" not in text, None)),
    ]
    bad = ("Bea Ito worked in a lovely office of North.", "Bea Ito worked at lab the of North.")
    done, asker = asked_for(*bad, GOOD, within=own)
    assert done.rejected == {"stereotype": 1, "perplexity": 1}
    [record] = done.records
    assert record["text"] == GOOD
    # A record says what it passed: a figure, or true where there is none
    checks = record["checks"]
    assert checks["stereotype"] == 0.5 and checks["perplexity"] is True
    assert checks["support"] is True and 0 < checks["duplicate"] < 0.6
    told = json.loads(asker.asked[-1].messages[-1]["content"])["refused"]
    assert told == [REASONS[each.reason] for each in own]


def test_the_relations_words_must_be_there(
    asked_for: Callable[..., tuple[Generated, Scripted]],
) -> None:
    # “summer” is no word of the relation; “worked for” is not in the text
    for relation in ("summer", "worked for", "", None):
        done, _ = asked_for(GOOD, relation=relation)
        assert done.rejected == {"relation": 1}
        assert done.left[0]["why"] == "the budget is spent"


def test_near_duplicates_by_hand() -> None:
    seen = Shingles(["a b c d e f g h i j k l", "x y"])
    assert seen.nearest("A b c, d e f g h i j k l m.") == 10 / 11 >= NEAR
    assert seen.nearest("a b c d e f g h z j k l") == 7 / 13 < NEAR
    assert seen.nearest("X y!") >= NEAR > seen.nearest("x")
