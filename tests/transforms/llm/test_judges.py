"""The LLM as judge of drawn exchanges: what it is shown, what is done with its answers, and how
often it is asked.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

import pytest
from hypothesis import given
from hypothesis import strategies as st
from put_out import rows
from scripted_asker import Says
from scripted_judge import First, Judge, shipped
from scripted_llm import MODEL, ScriptedLLM, Turn

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.files.driver import Run
from evenflow.prompts import loader as prompts
from evenflow.schemas.config import load
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.llm.judges import (
    AROUND,
    FIXED,
    LONGEST_PASSAGE,
    NO_REASON,
    REASONS,
    LlmJudge,
    show_passage,
)
from evenflow.transforms.llm.questions import CONTRADICTION, SCHEMA
from evenflow.transforms.models.reader import WHO
from evenflow.transforms.substitution.judges import Asked, Judged
from evenflow.transforms.substitution.reading import WORTH_ASKING
from evenflow.transforms.substitution.sets import Set
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import sentences
from evenflow.wordlists import loader

GENDER = loader.load("gender")
FINDER = LabelFinder([GENDER])
SUBSTITUTER = Substituter([GENDER], "gender")
VALID = {"who": "particular", "reason": "none", "verdict": "VALID"}
INVALID = {"who": "particular", "reason": "biology", "verdict": "INVALID"}
TEXT = "A nun came in. It rained.\n\nAn hour later the sister sang, and her brother left."


def sets_of(text: str) -> list[Set]:
    return SUBSTITUTER.propose(text, sentences(text), FINDER.find(text))


def other(proposed: Set) -> str:
    return "male" if proposed.source == "female" else "female"


def judged(
    says: Callable[[Mapping[str, Any]], Any],
    probability: float,
    mode: Literal["cascade", "llm"] = "llm",
    text: str = TEXT,
    min_probability: float = 0.8,
    together: Callable[..., tuple[int, ...]] = lambda sets, number: (number,),
) -> tuple[list[Judged], Says]:
    """All exchanges of a text, each of which the embedded judge gives a probability."""
    asker = Says(says)
    embedded = Judge(lambda shown: probability, "unsure", together)
    judge = LlmJudge(embedded, asker, mode, {"gender": min_probability})
    own = sets_of(text)
    asked = [(number, other(each)) for number, each in enumerate(own) if each.edits]
    [found] = judge.exchanges([Asked(text, own, asked)])
    return found, asker


def test_schema_and_prompt_have_the_readers_words() -> None:
    prompt = prompts.load("substitution")
    properties = prompt.schema["properties"]
    assert tuple(properties["who"]["enum"]) == WHO
    assert set(properties["reason"]["enum"]) == {NO_REASON, *REASONS}
    assert set(FIXED) <= set(WHO)
    assert all(f'"{word}"' in prompt.system for word in (*WHO, *REASONS, NO_REASON))


def test_the_question_shows_the_passage_with_all_mentions_of_the_joined_sets() -> None:
    both = lambda sets, number: (0, 1) if number < 2 else (number,)  # noqa: E731
    found, asker = judged(lambda data: VALID, 0.6, together=both)
    assert [json.loads(each.messages[-1]["content"]) for each in asker.asked] == [
        {
            "sentence": "A ⟦nun → monk⟧ came in. It rained.\n\nAn hour later the"
            " ⟦sister → brother⟧ sang, and ⟦her → his⟧ brother left.",
            "attribute": "gender",
            "from": "female",
            "to": "male",
        },
        {
            "sentence": "A nun came in. It rained.\n\nAn hour later the sister sang, and her"
            " ⟦brother → sister⟧ left.",
            "attribute": "gender",
            "from": "male",
            "to": "female",
        },
    ]
    assert {each.prompt for each in asker.asked} == {"substitution"}
    assert [each.joined for each in found] == [(0, 1), (0, 1), (2,)]


@pytest.mark.parametrize(
    ("answer", "probability", "reason", "rejected"),
    [
        (VALID, 1.0, "", ""),
        (INVALID, 0.0, REASONS["biology"], ""),
        (VALID | {"reason": "form"}, 0.45, "unsure", CONTRADICTION),
        (INVALID | {"reason": "none"}, 0.45, "unsure", CONTRADICTION),
        (VALID | {"who": "named"}, 0.45, "unsure", CONTRADICTION),
        (VALID | {"text": "better"}, 0.45, "unsure", SCHEMA),
        (VALID | {"who": "me"}, 0.45, "unsure", SCHEMA),
        ({}, 0.45, "unsure", SCHEMA),
        ("VALID", 0.45, "unsure", SCHEMA),
    ],
)
def test_an_answer_decides_or_the_embedded_judge_does(
    answer: Any, probability: float, reason: str, rejected: str
) -> None:
    [found], asker = judged(lambda data: answer, 0.45, text="A nun sang.")
    assert (found.probability, found.reason, len(asker.asked)) == (probability, reason, 1)
    assert asker.rejected == ({rejected: 1} if rejected else {})


def test_no_answer_is_a_counted_fallback() -> None:
    [found], _ = judged(lambda data: None, 0.9, text="A nun sang.")
    assert found.probability == 0.9


@pytest.mark.parametrize(
    ("probability", "min_probability", "cascade", "llm"),
    [
        (WORTH_ASKING - 0.01, 0.8, 0, 0),  # hopeless
        (0.5, 0.8, 1, 1),  # the embedded judge would refuse it
        (0.81, 0.8, 0, 1),  # it would accept it
        (0.9, 1.0, 1, 1),  # no probability reaches the wanted precision
        (0.3, 0.2, 0, 1),  # a low min_probability of the user
        (0.1, 0.2, 0, 0),
    ],
)
def test_the_mode_says_what_is_asked(
    probability: float, min_probability: float, cascade: int, llm: int
) -> None:
    for mode, asked in (("cascade", cascade), ("llm", llm)):
        _, asker = judged(
            lambda data: VALID,
            probability,
            mode,  # type: ignore[arg-type]
            "A nun sang.",
            min_probability,
        )
        assert len(asker.asked) == asked, mode


def test_several_documents_are_asked_about_in_one_batch_and_nothing_twice() -> None:
    asker = Says(lambda data: VALID)
    judge = LlmJudge(Judge(lambda shown: 0.5), asker, "llm", {"gender": 0.8})
    texts = ["A nun sang.", "A king sang.", "It rained.", "A nun sang."]
    documents = [
        Asked(text, own, [(number, other(each)) for number, each in enumerate(own)])
        for text in texts
        for own in [sets_of(text)]
    ]
    assert [len(each) for each in judge.exchanges(iter(documents))] == [1, 1, 0, 1]
    assert [len(call) for call in asker.calls] == [2]
    judge.exchanges(documents[:1])
    assert len(asker.asked) == 2


def test_a_passage_keeps_some_hundred_characters_and_leaves_out_the_rest() -> None:
    far = "The rain fell on the roofs. " * 100
    text = f"{far}A nun came in.\n\n{far}She left. {far}"
    shown = show_passage(text, sets_of(text), "male")
    assert shown is not None
    first, second = shown.split(" … ")
    assert {first.split()[0], second.split()[-1]} <= set(far.split())  # no word is cut
    for piece, mark in ((first, "A ⟦nun → monk⟧"), (second, "⟦She → He⟧")):
        assert AROUND[0] - 10 < piece.index(mark) <= AROUND[0]


def test_a_passage_that_is_too_long_is_not_asked_about() -> None:
    text = "A nun sang " + "la " * (LONGEST_PASSAGE // 2) + "to us."
    [found], asker = judged(lambda data: VALID, 0.9, text=text[:4900] + " to us.")
    assert len(asker.asked) == 1
    long = "\n\n".join(f"{'It rained. ' * 80}A nun sang number {n}." for n in range(60))
    together = lambda sets, number: tuple(range(len(sets)))  # noqa: E731
    [found, *_], asker = judged(lambda data: VALID, 0.9, text=long, together=together)
    assert not asker.asked and found.probability == 0.9


@given(st.text(max_size=80), st.text(max_size=80))
def test_without_the_marks_a_passage_is_the_text(before: str, after: str) -> None:
    text = f"{before} the nun sang {after}".replace("⟦", "").replace("⟧", "")
    for each in sets_of(text):
        target = other(each)
        if each.edits and (shown := show_passage(text, [each], target)) is not None:
            for edit in each.edits[target]:
                old = text[edit.start : edit.end]
                shown = shown.replace(f"⟦{old} → {edit.replacement}⟧", old, 1)
            assert shown == text


NAMES = ("nun", "waitress", "queen", "sister", "girl", "actress", "princess", "aunt")
DOCUMENTS = 400


def corpus(folder: Path) -> Path:
    """Documents of a man or a woman, one person each, in one line: a set of exchanges."""
    path = folder / "in.jsonl"
    lines = [
        {
            "id": f"d{number}",
            "text": f"A {NAMES[number % 8]} sold {number} apples. It rained. Then she left."
            if number % 4
            else f"A clerk sold {number} apples, and he left.",
        }
        for number in range(DOCUMENTS)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return path


def run(folder: Path, name: str, url: str, **more: object) -> Path:
    given: dict[str, Any] = {
        "llm.url": url,
        "llm.model": MODEL,
        "llm.cache": str(folder / f"{name}.sqlite"),
        "llm.deadline": 60.0,
        "llm.substitution": "llm",
        "repair.mode": "substitute",
        "repair.min_probability": 0.8,
    }
    given |= {key.replace("__", "."): value for key, value in more.items()}
    Run([str(corpus(folder))], folder / name, load(None, given, ["gender"])).go()
    return folder / name


def texts_of(out: Path) -> dict[str, str]:
    return {row["id"]: row["text"] for row in rows(out, "accepted", "quarantine")}


def is_right(number: int) -> bool:
    return number // 4 % 2 == 0


def half_right(request: Mapping[str, Any]) -> Turn:
    """Finds half of the exchanges right, by the number of apples."""
    data = json.loads(request["messages"][-1]["content"])
    [number] = [int(word) for word in data["sentence"].split() if word.isdigit()]
    return Turn(content=json.dumps(VALID if is_right(number) else INVALID))


def test_a_change_takes_fewer_than_three_requests(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of the exchanges are right, and the embedded judge is unsure of all. A replay and a
    second run with the cache decide the same.
    """
    whole = lambda sets, number: tuple(range(len(sets)))  # noqa: E731
    shipped(monkeypatch, Judge(lambda shown: 0.6, "named", whole), First(lambda shown: 0.9))
    with ScriptedLLM(half_right) as server:
        out = run(tmp_path, "out", server.url)
        requests = len(server.requests)
        again = run(tmp_path, "again", server.url, llm__cache=str(tmp_path / "out.sqlite"))
        assert len(server.requests) == requests
    [entry] = read_entries(out)
    repair, cost = entry.attributes["gender"].repair, (entry.llm or {})["substitution"]
    assert repair is not None and repair.changed > 30
    assert cost["requests"] == cost["questions"] == requests < 3 * repair.changed
    assert cost["models"] == {MODEL: requests}
    found = texts_of(out)
    assert repair.barred == {REASONS["biology"]: repair.judged - repair.changed}
    originals = map(json.loads, corpus(tmp_path).read_text().splitlines())
    changed = [each["id"] for each in originals if found[each["id"]] != each["text"]]
    assert changed and all(is_right(int(key[1:])) for key in changed)
    assert texts_of(again) == found


def test_what_is_left_of_a_budget_goes_to_exchanges_and_a_lost_server_to_the_embedded_judge(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shipped(monkeypatch, Judge(lambda shown: 0.9), First(lambda shown: 0.9))
    with ScriptedLLM(half_right) as server:
        out = run(tmp_path, "out", server.url, llm__tokens=7_500)
        asked = len(server.requests)
        assert 4 < asked < 12
        embedded = run(tmp_path, "embedded", server.url, llm__substitution="embedded")
        assert len(server.requests) == asked
    [entry] = read_entries(out)
    cost = (entry.llm or {})["substitution"]
    assert cost["questions"] - cost["fallbacks"]["budget spent"] == asked
    lost = run(tmp_path, "lost", server.url, llm__deadline=0.1)  # the server has gone
    assert texts_of(lost) == texts_of(embedded) != texts_of(out)
    [entry] = read_entries(lost)
    assert sum((entry.llm or {})["substitution"]["fallbacks"].values()) > 30
    assert entry.asking is not None and entry.asking.state == "warn"
