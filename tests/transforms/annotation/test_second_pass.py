"""A budget of tokens over a whole pane: which are asked, whatever cuts the blocks or stops the
run.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from model_answers import indicators, stereotype
from put_out import rows
from scripted_llm import MODEL, ScriptedLLM, Turn

from evenflow.gates.ledger.files import read_entries
from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import load
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.llm import SPENT
from evenflow.transforms.llm.client.stats import Stats
from evenflow.transforms.measures.stereotypes import detect
from evenflow.transforms.measures.stereotypes.masking import widened
from evenflow.wordlists import loader

SENTENCES = (
    *("Women are gossiping at the market again.", "Some girls cannot park a car, they say."),
    *("A clerk lost his pen on the way to bus {}.", "Men never listen to anyone in room {}."),
    *("The nurse said that he would wash his hands {} times.", "She bought {} hats."),
    *("Boys will fight about ball {}.", "Every wife should cook {} meals for her husband."),
)
LARGEST = 1_200  # tokens of a question and its answer
VALID = {"who": "particular", "reason": "none", "verdict": "VALID"}


def texts() -> list[str]:
    return [
        " ".join(SENTENCES[(number + more) % len(SENTENCES)].format(number) for more in range(3))
        for number in range(48)
    ]


def corpus(folder: Path, files: int) -> Path:
    """The same documents, in one file or more: each makes a block of its own."""
    folder.mkdir(exist_ok=True)
    lines = [
        json.dumps({"id": f"d{number:03d}", "text": text, "n": number})
        for number, text in enumerate(texts())
    ]
    size = -(-len(lines) // files)
    for number in range(files):
        (folder / f"{number}.jsonl").write_text(
            "\n".join(lines[number * size : (number + 1) * size]), encoding="utf-8"
        )
    return folder


def says(request: Mapping[str, Any]) -> Turn:
    """Finds half of the sentences stereotypes, and everything else right."""
    data = json.loads(request["messages"][-1]["content"])
    if "from" in data:
        return Turn(content=json.dumps(VALID))
    label = data["listed"][0]
    if '"belief"' not in json.dumps(request):  # the indicators' questions
        nothing = dict.fromkeys(("information", "situation", "sentiment", "generalisation"))
        return Turn(content=json.dumps(indicators(label, None) | nothing))
    found = len(data["sentence"]) % 2 == 0
    return Turn(content=json.dumps(stereotype(label, data["sentence"], found)))


def run(
    tmp_path: Path, name: str, url: str, files: int = 3, workers: int = 1, **more: object
) -> Path:
    given: dict[str, Any] = {
        "llm.url": url,
        "llm.model": MODEL,
        "llm.cache": str(tmp_path / f"{name}.sqlite"),
        "llm.deadline": 60.0,
        "llm.detection": "llm",
        "llm.indicators": "llm",
        "llm.substitution": "llm",
        "stereotypes.action": "remove",
        "stereotypes.remove_from": 0.7,  # by default gender is only flagged, and not asked about
        "repair.mode": "substitute",
    }
    config = load(None, given | more, ["gender"])
    Run([str(corpus(tmp_path / f"in{files}", files))], tmp_path / name, config, workers).go()
    return tmp_path / name


def chats(server: ScriptedLLM) -> set[str]:
    return {json.dumps(each["messages"]) for each in server.requests}


def cost(out: Path) -> dict[str, Stats]:
    """What the panes of a run cost, by prompt."""
    total: dict[str, Stats] = {}
    for entry in read_entries(out):
        for name, each in (entry.llm or {}).items():
            total.setdefault(name, Stats()).add(Stats.from_json(each))
    return total


@pytest.mark.parametrize("tokens", [0, 7_000, 40_000])
def test_what_is_asked_does_not_depend_on_blocks_and_workers(tmp_path: Path, tokens: int) -> None:
    seen: list[set[str]] = []
    found: list[list[dict[str, Any]]] = []
    for files, workers in ((1, 1), (8, 2)):
        with ScriptedLLM(says) as server:
            name, more = f"{files}-{workers}", {"llm.tokens": tokens}
            out = run(tmp_path, name, server.url, files, workers, **more)
            seen.append(chats(server))  # a busy machine may see a retry of the same
        found.append(rows(out))
        spent = cost(out)
        asked = sum(each.questions - each.fallbacks.get(SPENT, 0) for each in spent.values())
        assert asked == len(seen[-1])
        granted = sum(each.granted for each in spent.values())
        assert tokens - LARGEST < granted <= tokens
        assert sum(each.fallbacks.get(SPENT, 0) for each in spent.values()) > 0
        assert not list((out / "staged").iterdir())
    assert seen[0] == seen[1] and found[0] == found[1]


def test_the_most_valuable_of_the_whole_pane_are_asked(tmp_path: Path) -> None:
    """Of detection alone: the sentences nearest to the embedded detector's threshold, wherever in
    the pane they stand.
    """
    with ScriptedLLM(says) as server:
        more: dict[str, Any] = {
            "llm.tokens": 12_000,
            "llm.indicators": "embedded",
            "llm.substitution": "embedded",
            "repair.mode": "measure",
        }
        run(tmp_path, "out", server.url, 4, **more)
        asked = {
            json.loads(each["messages"][-1]["content"])["sentence"] for each in server.requests
        }
        del more["llm.tokens"]
        run(tmp_path, "all", server.url, 4, **more)
        every = {
            json.loads(each["messages"][-1]["content"])["sentence"]: each
            for each in server.requests
        }
    sentences = list(every)
    finder = LabelFinder([widened(loader.load("gender"))])
    spans = [
        [(each.start, each.end, each.attribute) for each in finder.find(sentence)]
        for sentence in sentences
    ]
    chances = zip(sentences, detect.shipped().detect(sentences, spans), strict=True)
    distance = {each: abs((p or detect.THRESHOLD) - detect.THRESHOLD) for each, p in chances}
    assert 5 < len(asked) < len(every)
    others = [distance[each] for each in every if each not in asked]
    assert max(distance[each] for each in asked) <= min(others) + 1e-9


def test_what_is_left_goes_to_the_questions_that_answers_bring_up(tmp_path: Path) -> None:
    """A sentence that the embedded detector takes for none is asked about its indicators once the
    model calls it one.
    """
    with ScriptedLLM(says) as server:
        out = run(tmp_path, "out", server.url)
        detected = [each for each in server.requests if '"belief"' in json.dumps(each)]
        assert 0 < len(detected) < len(server.requests)
    assert cost(out)["indicators"].requests > 0


def test_a_replay_asks_nothing_twice_and_decides_the_same(tmp_path: Path) -> None:
    cache = {"llm.cache": str(tmp_path / "kept.sqlite"), "llm.tokens": 40_000}
    with ScriptedLLM(says) as server:
        first = run(tmp_path, "first", server.url, **cache)
        asked = len(chats(server))
        server.requests.clear()
        again = run(tmp_path, "again", server.url, 8, 2, **cache)
        assert not server.requests
    assert rows(first) == rows(again)
    hits = sum(each.cache_hits for each in cost(again).values())
    assert hits == asked > 20


def test_each_pane_has_the_budget(tmp_path: Path) -> None:
    with ScriptedLLM(says) as server:
        out = run(tmp_path, "out", server.url, 3, **{"llm.tokens": 6_000, "pane.docs": 12})
    granted = [
        sum(each["granted"] for each in (one.llm or {}).values()) for one in read_entries(out)
    ]
    assert len(granted) == 4 and all(6_000 - LARGEST < each <= 6_000 for each in granted)
