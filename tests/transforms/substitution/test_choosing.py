"""Candidates of a place and the choice among them, alone and in a run."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from scripted_asker import Says
from scripted_judge import First, shipped
from scripted_judge import Judge as Encoder
from scripted_llm import MODEL, ScriptedLLM, Turn

from evenflow.pipelines.files.driver import Run
from evenflow.schemas.config import load
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.llm.judges import LlmJudge
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.choosing import add_role_words, group_counterparts
from evenflow.transforms.substitution.judges import (
    Chosen,
    Embedded,
    FirstScorer,
    Slot,
    SubstitutionJudge,
)
from evenflow.transforms.substitution.roles import Role
from evenflow.transforms.substitution.sets import Set, apply
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import sentences
from evenflow.wordlists import loader, spelling

VALID = {"grammar": True, "facts": True, "verdict": "VALID"}


class Takes(Embedded):
    """Records the candidates of each place and takes the one with a given number."""

    chooses = True

    def __init__(self, number: int = 0):
        self.number = number
        self.places: list[Slot] = []

    def choose_counterpart(self, place: Slot) -> Chosen:
        self.places.append(place)
        return Chosen(place.candidates[self.number % len(place.candidates)])


LISTS = {name: loader.load(name) for name in loader.SHIPPED}


def proposed(
    text: str, attribute: str, tier: SubstitutionJudge, first: FirstScorer | None = None
) -> list[Set]:
    words = LISTS[attribute]
    substituter = Substituter([words], attribute, first=first, tier=tier)
    return substituter.propose(text, sentences(text), LabelFinder([words]).find(text))


def rewritten(text: str, attribute: str, target: str, tier: SubstitutionJudge) -> str:
    return apply(
        text,
        [edit for each in proposed(text, attribute, tier) for edit in each.edits.get(target, ())],
    )


@pytest.mark.parametrize(
    ("attribute", "text", "target", "word", "candidates"),
    [
        ("gender", "My dad sang.", "female", "dad", ["mom", "mum", "mama", "mamma"]),
        ("gender", "The lady sang to us.", "male", "lady", ["gentleman", "gent", "laird", "lord"]),
        ("gender", "Her uncle sang.", "female", "uncle", ["aunt", "aunty", "auntie"]),
        ("gender", "The nuns sang.", "male", "nuns", ["monks", "friars"]),
        (
            "religion",
            "A rabbi sang.",
            "islam",
            "rabbi",
            ["imam", "mullah", "maulana", "mawlana", "khatib"],
        ),
        ("religion", "She met a Jewish woman.", "hinduism", "Jewish", ["Hindu", "Vaishnava"]),
        (
            "age",
            "Many pensioners sang.",
            "middle",
            "pensioners",
            ["thirtysomethings", "millennials", "middle-agers"],
        ),
        ("age", "An elderly baker sang.", "young", "elderly", ["youthful", "adolescent"]),
    ],
)
def test_candidates_are_the_labels_of_the_same_role(
    attribute: str, text: str, target: str, word: str, candidates: list[str]
) -> None:
    words = LISTS[attribute]
    judge = Takes()
    rewritten(text, attribute, target, judge)
    found = [place.candidates for place in judge.places if place.word.lower() == word.lower()]
    group = {spelling.fold(label): words.groups[number] for label, number in words.labels.items()}
    own = [
        each for each in found if any(group.get(spelling.fold(other)) == target for other in each)
    ]
    assert own
    assert [other.lower() for other in own[0]][: len(candidates)] == [
        other.lower() for other in candidates
    ]
    assert all(group.get(spelling.fold(other)) == target for other in own[0][1:])
    assert len(set(own[0])) == len(own[0])


@pytest.mark.parametrize("word", ["she", "her", "his", "he", "himself"])
def test_a_pronoun_has_no_choice(word: str) -> None:
    judge = Takes()
    proposed(f"A clerk said {word} keys were lost.", "gender", judge)
    assert [len(place.candidates) for place in judge.places] == [1]


@pytest.mark.parametrize(
    ("number", "text", "target", "changed"),
    [
        (0, "A pastor sang.", "islam", "An imam sang."),
        (1, "A pastor sang.", "islam", "A mullah sang."),
        (0, "A teenager's phone rang.", "old", "A retiree's phone rang."),
        (2, "A teenager's phone rang.", "old", "A senior-citizen's phone rang."),
        (1, "THE TEENAGERS' HALL WAS FULL.", "old", "THE PENSIONERS' HALL WAS FULL."),
        (2, "An elderly baker sang.", "young", "A youthful baker sang."),
    ],
)
def test_article_possessive_and_capitals_follow_the_word_that_was_chosen(
    number: int, text: str, target: str, changed: str
) -> None:
    attribute = "religion" if target == "islam" else "age"
    assert rewritten(text, attribute, target, Takes(number)) == changed


def test_a_word_gets_the_same_counterpart_throughout_a_set() -> None:
    calls = iter(range(100))

    class Changes(Takes):
        def choose_counterpart(self, place: Slot) -> Chosen:
            return Chosen(place.candidates[next(calls) % len(place.candidates)])

    text = rewritten("The lady came in. The lady sang. She left.", "gender", "male", Changes())
    words = [word for word in ("gentleman", "gent", "laird", "lord") if f"The {word} came" in text]
    assert text == f"The {words[0]} came in. The {words[0]} sang. He left."


def test_no_word_is_chosen_for_a_removed_item() -> None:
    """“youthful teenager” becomes one word, and the article follows it."""
    assert rewritten("A youthful teenager sang.", "age", "old", Takes(0)) == "A retiree sang."
    assert rewritten("A youthful teenager sang.", "age", "old", Takes(1)) == "A pensioner sang."


def test_a_set_that_its_form_refuses_is_not_judged() -> None:
    asker = Says(lambda data: None)
    found = proposed("Men and women sang.", "gender", LlmJudge(asker, by_model=1))
    assert len(found) == 2 and not any(each.edits for each in found) and not asker.asked


@pytest.mark.parametrize(
    ("verdict", "confidence", "is_judged", "reason"),
    [
        (VALID, 1.0, True, ""),
        (VALID | {"facts": False, "verdict": "INVALID"}, 0.0, True, sets.DOUBTED),
        # No answer: the first probability stands, and the encoder may be asked
        (None, 0.6, False, ""),
    ],
)
def test_a_verdict_is_the_sets_probability(
    verdict: dict[str, Any] | None, confidence: float, is_judged: bool, reason: str
) -> None:
    asker = Says(
        lambda data: {"choice": data["candidates"][0]} if "candidates" in data else verdict
    )
    [found] = proposed(
        "A nun sang.", "gender", LlmJudge(asker, by_model=1), First(lambda shown: 0.6)
    )
    assert (found.confidence, found.judged, found.reason, bool(found.edits)) == (
        confidence,
        is_judged,
        reason,
        not reason,
    )
    assert [question.prompt for question in asker.asked] == ["counterpart", "substitution"]


def test_pairs_by_group_and_roles_behind_them() -> None:
    pairs = group_counterparts(loader.load("gender"))
    assert pairs["nun"] == {"male": ("friar", "monk")}
    roles = [Role("x", "noun", "singular", {"female": ("nun",), "male": ("brother", "monk")})]
    assert add_role_words(pairs["nun"], roles)["male"] == ("friar", "monk", "brother", "monk")
    assert add_role_words(pairs["nun"], []) == pairs["nun"]


SENTENCES = (
    "A pastor read a letter at the bakery, and number {} was his.",
    "The rabbi waited for bus {}.",
    "An imam bought {} apples.",
)


def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "in.jsonl"
    lines = [
        {"id": f"d{number}", "text": SENTENCES[min(number % 5, 2)].format(number)}
        for number in range(200)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def run(tmp_path: Path, name: str, url: str, **more: object) -> dict[str, str]:
    """The documents that a run makes of the corpus, by id."""
    given: dict[str, Any] = {
        "llm.url": url,
        "llm.model": MODEL,
        "llm.cache": str(tmp_path / f"{name}.sqlite"),
        "llm.deadline": 60.0,
        "llm.substitution": "llm",
        "repair.mode": "substitute",
    }
    Run([str(corpus(tmp_path))], tmp_path / name, load(None, given | more, ["religion"])).go()
    shards = sorted(
        [*(tmp_path / name / "accepted").iterdir(), *(tmp_path / name / "quarantine").iterdir()]
    )
    return {row["id"]: row["text"] for shard in shards for row in pq.read_table(shard).to_pylist()}


@pytest.fixture(autouse=True)
def models(monkeypatch: pytest.MonkeyPatch) -> None:
    """Replace the shipped models: every exchange is right."""
    shipped(monkeypatch, Encoder(), First(lambda shown: 0.9))


def test_in_a_run_the_model_chooses_four_fifths_and_the_rest_is_drawn(tmp_path: Path) -> None:
    """The server always takes the last candidate; nothing but candidates ever stands in a text."""

    def script(request: Mapping[str, Any]) -> Turn:
        data = json.loads(request["messages"][-1]["content"])
        return Turn(
            content=json.dumps(
                {"choice": data["candidates"][-1]} if "candidates" in data else VALID
            )
        )

    originals = {
        line["id"]: line["text"]
        for line in map(json.loads, corpus(tmp_path).read_text().splitlines())
    }
    clergy = loader.load("religion")
    with ScriptedLLM(script) as server:
        first = run(tmp_path, "first", server.url)
        again = run(tmp_path, "again", server.url)
        other = run(tmp_path, "other", server.url, **{"repair.seed": 7})
        asked = [json.loads(each["messages"][-1]["content"]) for each in server.requests]
    assert first == again
    assert first != other
    offered = {data["word"]: set[str]() for data in asked if "candidates" in data}
    for data in asked:
        if "candidates" in data:
            offered[data["word"]] |= set(data["candidates"])
    last = {data["candidates"][-1] for data in asked if "candidates" in data}
    changed = {identity: text for identity, text in first.items() if text != originals[identity]}
    assert len(changed) > 30
    by_model = 0
    for identity, text in changed.items():
        word = next(word for word in ("pastor", "rabbi", "imam") if word in originals[identity])
        instead = [
            each
            for each in offered[word]
            if originals[identity].replace(f" {word}", f" {each}") == with_an(text, each)
        ]
        assert len(instead) == 1, text
        assert spelling.fold(instead[0]) in {spelling.fold(label) for label in clergy.labels}
        by_model += instead[0] in last
    # Of the drawn fifth some are the last candidate by chance: one in 2 to 6.
    assert 0.75 * len(changed) < by_model < 0.99 * len(changed)


def with_an(text: str, word: str) -> str:
    """The text with the article that its original had."""
    for wrong, right in ((f"A {word}", f"An {word}"), (f"An {word}", f"A {word}")):
        original = "An" if "apples" in text else "A" if "letter" in text else ""
        if text.startswith(wrong) and original and right.split()[0] == original:
            return text.replace(wrong, right, 1)
    return text


def test_no_choice_in_the_cascade_where_the_embedded_judge_is_sure(tmp_path: Path) -> None:
    with ScriptedLLM(lambda request: Turn(content=json.dumps(VALID))) as server:
        cascade = run(tmp_path, "cascade", server.url, **{"llm.substitution": "cascade"})
        asked = len(server.requests)
        embedded = run(tmp_path, "embedded", server.url, **{"llm.substitution": "embedded"})
        assert len(server.requests) == asked
    assert cascade == embedded
