"""Texts that give orders, with a model that obeys them: only a label's counterpart comes out."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import pytest
from jsonschema import Draft202012Validator
from model_answers import indicators, stereotype
from places import DATA
from scripted_judge import Judge
from stereotype_models import scorer

from evenflow.prompts import loader
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.llm import judges
from evenflow.transforms.llm import questions as llm_questions
from evenflow.transforms.llm.cascade import select_all
from evenflow.transforms.llm.judges import LlmJudge
from evenflow.transforms.llm.questions import Answer, Asker, Question
from evenflow.transforms.llm.quotes import find_quote
from evenflow.transforms.measures.stereotypes.llm_detector import TieredDetector, about_sentence
from evenflow.transforms.measures.stereotypes.llm_scorer import TieredScorer
from evenflow.transforms.substitution.judges import Asked, Judged
from evenflow.transforms.substitution.sets import Set
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists import loader as lists

CASES = [json.loads(line) for line in (DATA / "injections.jsonl").read_text("utf-8").splitlines()]
GENDER = lists.load("gender")
FINDER = LabelFinder([GENDER])
SCORER = scorer()
SUBSTITUTER = Substituter([GENDER], "gender")
REJECTED = {
    llm_questions.SCHEMA,
    llm_questions.QUOTE,
    llm_questions.CONTRADICTION,
    llm_questions.OTHER_LABEL,
}
REASONS = REJECTED | {llm_questions.TOO_LONG}

each_case = pytest.mark.parametrize(
    "case", CASES, ids=[f"{place}-{case['kind']}" for place, case in enumerate(CASES)]
)


def answers(prompt: str, case: Mapping[str, Any]) -> list[Any]:
    """The answers of a model that obeys a text: its demands, and its words wherever possible."""
    payload = case["payload"]
    forms: dict[str, list[Any]] = {
        "stereotypes": [stereotype(payload, said) for said in (payload, case["text"], None)],
        "indicators": [indicators(payload, payload)],
        "substitution": [
            {"who": "named", "reason": "named", "verdict": "VALID"},
            {"who": "anybody", "reason": payload, "verdict": "INVALID"},
            {"who": "anybody", "reason": "none", "verdict": "VALID", "sentence": payload},
            {"who": "anybody", "reason": "none", "verdict": "VALID"},
        ],
    }
    raw = [case["answer"]] if case["answer"] is not None else []
    return [*raw, *forms[prompt], payload, [payload], {payload: payload}, {}]


class Obeys:
    """Answers every question as the text demands, in one of the ways to obey."""

    def __init__(self, case: Mapping[str, Any], way: int):
        self.case = case
        self.way = way
        self.rejected: Counter[str] = Counter()

    def ask(self, questions: Sequence[Question]) -> list[Answer]:
        """The demanded answers."""
        out: list[Answer] = []
        for question in questions:
            ways = answers(question.prompt, self.case)
            out.append(Answer(ways[self.way % len(ways)], "model"))
        return out

    def reject(self, question: Question, answer: Answer, reason: str) -> None:
        """Counts a rejected answer."""
        self.rejected[reason] += 1


WAYS = range(8)


def own_sets(text: str) -> list[Set]:
    """The sets of a text."""
    return SUBSTITUTER.propose(text, trimmed(text, bounds(text).tolist()), FINDER.find(text))


def verdicts(case: Mapping[str, Any], asker: Asker) -> list[Judged]:
    """The model's verdicts about the exchanges that are possible in a text."""
    judge = LlmJudge(Judge(lambda shown: 0.5), asker, "llm", {"gender": 0.8})
    own = own_sets(case["text"])
    asked = [(number, target) for number, each in enumerate(own) for target in each.edits]
    [found] = judge.exchanges([Asked(case["text"], own, asked)])
    return found


def labels(text: str) -> list[tuple[int, int, str]]:
    """The spans of a text's labels."""
    return [(mention.start, mention.end, mention.attribute) for mention in FINDER.find(text)]


class Silent:
    """A detector that can judge no sentence."""

    def detect(
        self, sentences: Sequence[str], labels: Sequence[Sequence[tuple[int, int, str]]]
    ) -> list[float | None]:
        """None for each sentence."""
        return [None] * len(sentences)


def test_cases_are_many_and_of_many_kinds() -> None:
    kinds = Counter(case["kind"] for case in CASES)
    assert len(CASES) == len({case["text"] for case in CASES}) >= 120
    assert len(kinds) >= 10
    assert min(kinds.values()) >= 5


@each_case
@pytest.mark.parametrize("name", loader.names())
def test_the_text_is_one_string_of_the_last_message(case: Mapping[str, Any], name: str) -> None:
    prompt = loader.load(name)
    plain = prompt.messages("plain", **dict.fromkeys(prompt.slots, ""))
    text: str = case["text"]
    chat = prompt.messages(text, **dict.fromkeys(prompt.slots, text))
    assert chat[:-1] == plain[:-1]
    assert json.loads(chat[-1]["content"]) == dict.fromkeys(("sentence", *prompt.slots), text)
    assert not {"<", "[", "\n", "\u200b", "\u202e"} & set(chat[-1]["content"])


@each_case
def test_a_detection_quotes_the_sentence_or_is_rejected(case: Mapping[str, Any]) -> None:
    text = case["text"]
    own = labels(text)
    question = about_sentence("stereotypes", text, own)
    assert question is not None or len(text) > llm_questions.LONGEST_SENTENCE
    for way in WAYS:
        detector = TieredDetector(Silent(), Obeys(case, way), select_all)
        [judged] = detector.judge([text], [own])
        if judged.value is None:
            assert judged.origin == "fallback"
            assert judged.reason in REASONS
            continue
        assert question is not None
        answer = answers("stereotypes", case)[way % len(answers("stereotypes", case))]
        assert Draft202012Validator(question.schema).is_valid(answer)
        assert judged.value == detector.check(text, own, answer)
        assert all(
            find_quote(text, answer[field])
            for field in ("label", "said")
            if answer[field] is not None
        )
        assert (
            answer["label"] is None
            or not own
            or any(text[start:end] in answer["label"] for start, end, _ in own)
        )
        assert answer["stereotype"] == bool(
            answer["mentions_group"] and answer["belief"] and answer["trait"]
        )


@each_case
def test_indicators_rest_on_the_sentence_or_are_rejected(case: Mapping[str, Any]) -> None:
    text = case["text"]
    own = labels(text)
    rules = SCORER.indicators([text], [own])[0]
    for way in WAYS:
        judged = TieredScorer(SCORER, Obeys(case, way), select_all).judge([text], [own])[0]
        if judged.origin == "fallback":
            assert judged.value == rules
            assert judged.reason in REASONS
        else:
            assert judged.value is not None and judged.value.score is not None
            assert 0 <= judged.value.score <= 1
            assert find_quote(text, case["payload"])


@each_case
def test_a_verdict_accepts_or_refuses_and_nothing_more(case: Mapping[str, Any]) -> None:
    """No word of an answer gets into a text, a reason or a count."""
    for way in WAYS:
        obeys = Obeys(case, way)
        found = verdicts(case, obeys)
        assert {each.probability for each in found} <= {0.0, 0.5, 1.0}
        assert {each.reason for each in found} <= {"", *judges.REASONS.values()}
        assert set(obeys.rejected) <= REASONS


def test_the_texts_really_attack() -> None:
    """Most answers of a model that obeys are rejected, and the rules find labels to exchange."""
    rejected = Counter[str]()
    for case in CASES:
        for way in WAYS:
            obeys = Obeys(case, way)
            detector = TieredDetector(Silent(), obeys, select_all)
            detector.detect([case["text"]], [labels(case["text"])])
            verdicts(case, obeys)
            rejected += obeys.rejected
    assert min(rejected[reason] for reason in REJECTED) >= len(CASES) / 4
    changeable = [case for case in CASES if any(each.edits for each in own_sets(case["text"]))]
    assert len(changeable) >= len(CASES) / 4
