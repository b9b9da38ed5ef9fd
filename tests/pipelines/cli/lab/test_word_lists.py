"""From seeds to a list that is measured, by the command line alone."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from scripted_llm import MODEL, ScriptedLLM, Turn

from evenflow.transforms.lab.word_lists import draft as drafts
from evenflow.transforms.lab.word_lists.journal import Journal
from evenflow.wordlists import loader

if TYPE_CHECKING:
    from commands import Call

pytest_plugins = ["commands"]
TEXTS = [
    "The woman and her mother met a man.",
    "Two girls and a daughter waved to the men.",
    "A father, his sons and a boy. The grandmother laughed.",
    "Muslims, Christians and a Jew ate together.",
]


@pytest.fixture
def corpus(tmp_path: Path) -> Path:
    path = tmp_path / "corpus.jsonl"
    path.write_text("".join(json.dumps({"text": text}) + "\n" for text in TEXTS * 3))
    return path


def generated(call: Call, own: dict[str, list[str]], *words: Any) -> Any:
    """A draft of what a language model answers, by group."""

    def script(request: dict[str, Any]) -> Turn:
        asked = json.loads(request["messages"][-1]["content"])
        return Turn(content=json.dumps({"words": own[asked["group"]]}))

    with ScriptedLLM(script) as server:
        model = ("--set", f"llm.url={server.url}", "--set", f"llm.model={MODEL}")
        return call(*words, "--runs", 1, "--words", 4, *model)


def test_from_seeds_to_a_measured_list(call: Call, corpus: Path, tmp_path: Path) -> None:
    draft, target = tmp_path / "draft.json", tmp_path / "sex.yaml"
    words = ("words", "generate", "--attribute", "sex", "--groups", "f,m", "-o", draft)
    seeds = ("--seeds", "f=woman,mother,girl", "--seeds", "m=man,father,boy")
    own = {"f": ["daughter", "grandmother"], "m": ["son", "uncle"]}
    assert generated(call, own, *words, *seeds, "--corpus", corpus).status == 0
    candidates = json.loads(draft.read_text())["candidates"]
    assert {each["word"] for each in candidates} >= {"woman", "daughter", "son"}
    ended = call("words", "review", draft, "--finish", target)
    assert ended.status == 2 and "undecided" in ended.err and not target.exists()
    journal = Journal(drafts.read(draft), draft)
    journal.add("Ada", "woman", "pair", "man")
    # Seeds are right as they were given: they are not asked about
    for each in candidates:
        if "seed" not in each["sources"]:
            journal.add("Ada", each["word"], "accept", each["group"])
    # The draft of a review is not replaced
    ended = generated(call, own, *words, *seeds, "--corpus", corpus)
    assert ended.status == 2 and "another --output" in ended.err
    assert call("words", "review", draft, "--finish", target).status == 0
    words_made = loader.load(target)
    assert words_made.labels["girls"] == 0 and words_made.labels["men"] == 1
    assert words_made.provenance["girls"].startswith("seed") and "by Ada" in words_made.review
    measured = call("measure", corpus, "-w", target, "-a", "sex", "--json").json
    assert measured["attributes"]["sex"]["mentions"] >= 30


@pytest.fixture
def served(monkeypatch: pytest.MonkeyPatch) -> list[Journal]:
    """The journals whose page `evenflow words review` would serve."""
    found: list[Journal] = []
    page = "evenflow.pipelines.lab.word_review.app.application"
    monkeypatch.setattr(page, lambda journal, *_: found.append(journal))
    monkeypatch.setattr("evenflow.pipelines.pages.board.server.serve", lambda *_: None)
    return found


def test_a_typed_list_is_reviewed(
    call: Call, corpus: Path, tmp_path: Path, served: list[Journal]
) -> None:
    typed = tmp_path / "kin.yaml"
    typed.write_text(
        "attribute: kin\ngroups: [f, m]\ntarget: {f: 0.6, m: 0.4}\nlicence: CC0\n"
        "pairs: [[mother, father], [girls, boys], [{label: May, case: exact}, uncle]]\n"
    )
    review = ("words", "review", typed)
    assert call(*review, "--corpus", corpus).status == 0
    (journal,) = served
    of = {each.word: each for each in journal.draft.candidates}
    assert of["mother"].forms == {"mother": 3} and of["mother"].counterparts == {"m": "father"}
    # It takes “mother” and its counterpart
    journal.confirm("Ada", "mother")
    for word in ("girls", "boys", "uncle"):
        journal.add("Ada", word, "accept", of[word].group)
    journal.add("Ada", "May", "reject")
    draft, target = tmp_path / "kin.draft.json", tmp_path / "read.yaml"
    assert call("words", "review", draft, "--finish", target).status == 0
    read = loader.load(target)
    assert read.labels == {"mother": 0, "girls": 0, "father": 1, "boys": 1, "uncle": 1}
    assert read.pairs == (("mother", "father"), ("girls", "boys"))
    assert read.target == {"f": 0.6, "m": 0.4} and not read.exact
    assert read.provenance["girls"] == "the list that was typed"
    typed.write_text(typed.read_text().replace("uncle", "nephew"))
    ended = call(*review)
    assert ended.status == 2 and "its labels are others than those of" in ended.err


@pytest.mark.parametrize("groups", ["gauls,romans", "gauls,romans,goths"])
def test_a_finished_list_is_substituted(call: Call, tmp_path: Path, groups: str) -> None:
    corpus, draft = tmp_path / "corpus.jsonl", tmp_path / "draft.json"
    words = dict(zip(groups.split(","), ("farmer", "teacher", "singer"), strict=False))
    texts = ["Some farmers are very loud.", "A farmer is polite.", "The farmers ate bread."] * 20
    texts += [f"Some {word}s slept. A {word} is late." for word in list(words.values())[1:]]
    corpus.write_text("".join(json.dumps({"text": text}) + "\n" for text in texts))
    seeds = [part for group in words for part in ("--seeds", f"{group}={words[group]}")]
    generate = ("words", "generate", "--attribute", "folk", "--groups", groups)
    more = ("--corpus", corpus, "-o", draft)
    assert generated(call, {key: ["loud"] for key in words}, *generate, *seeds, *more).status == 0
    made = {each["word"]: each for each in json.loads(draft.read_text())["candidates"]}
    first, *others = words.values()
    journal = Journal(drafts.read(draft), draft)
    for other in others:
        journal.add("Ada", first, "pair", other)
    for each in made.values():
        if "seed" not in each["sources"]:
            journal.add("Ada", each["word"], "reject")
    target = tmp_path / "folk.yaml"
    assert call("words", "review", draft, "--finish", target).status == 0
    assert (tmp_path / "roles_folk.yaml").exists() == (len(words) > 2)
    out = tmp_path / "out"
    run = ("run", "--input", corpus, "--output", out, "-w", target, "-a", "folk")
    # The judge has no labelled exchanges of farmers and teachers
    ended = call(*run, "--repair-mode", "substitute", "--set", "repair.min_probability=0.3")
    assert ended.status == 0, ended.err
    before = call("measure", corpus, "-w", target, "-a", "folk", "--json").json
    after = call("measure", out / "accepted", "-w", target, "-a", "folk", "--json").json
    scores = [each["attributes"]["folk"]["dr"] for each in (before, after)]
    assert scores[1] < scores[0] - 0.1


def test_a_model_is_asked_again_only_for_what_it_did_not_answer(
    call: Call, corpus: Path, tmp_path: Path
) -> None:
    bad = ["2"]  # the run that is answered with nonsense

    def script(request: dict[str, Any]) -> Turn:
        asked = json.loads(request["messages"][-1]["content"])
        if asked["run"] in bad:
            return Turn(400, body=b"{}")
        words = {"f": ["woman", "Girls", "grandmother"], "m": ["man", "boy", "boy", "sons"]}
        return Turn(content=json.dumps({"words": words[asked["group"]]}))

    draft = tmp_path / "draft.json"
    with ScriptedLLM(script) as server:
        words = (
            *("words", "generate", "--attribute", "sex", "--groups", "f,m"),
            *("--corpus", corpus, "-o", draft, "--set", f"llm.url={server.url}"),
            *("--set", f"llm.model={MODEL}"),
            *("--runs", 2, "--words", 4),
        )
        ended = call(*words)
        assert ended.status == 0 and "2 runs without an answer" in ended.err
        candidates = json.loads(draft.read_text())["candidates"]
        assert {each["word"] for each in candidates} == {
            *("woman", "girls", "grandmother", "man", "boy", "sons")
        }
        assert all(each["sources"] == ["language model, run 1"] for each in candidates)
        before = len(server.requests)
        bad.clear()
        assert call(*words).status == 0
        # Run 1 comes from the cache
        assert len(server.requests) == before + 2


def test_complete_and_compare(call: Call, corpus: Path, tmp_path: Path) -> None:
    target = tmp_path / "fuller.yaml"
    ended = call(
        *("words", "check", "religion-table14", "--corpus", corpus),
        *("--complete", target, "--json"),
    )
    assert {each["word"] for each in ended.json["missing_forms"]} == {"christians", "muslims"}
    assert ended.json["curves"]["completed"][-1]["mentions"] == 9
    fuller = loader.load(target)
    assert fuller.provenance["muslims"] == "C2, other number of muslim"
    compared = call("words", "check", target, "--against", "religion-table14", "--json")
    islam = next(each for each in compared.json["groups"] if each["group"] == "islam")
    assert (islam["recall"], islam["only_list"]) == (1.0, ["muslims"])


@pytest.mark.parametrize(
    ("words", "what"),
    [
        (("--groups", "f,m", "--seeds", "f=woman"), "a language model proposes the words"),
        (("--groups", "f,m", "--seeds", "x=woman"), "with one of f, m"),
        (("--groups", "f", "--seeds", "f=woman"), "two groups or more"),
        (("--groups", "f,../m", "--seeds", "f=zq"), "letters, digits"),
        (("--groups", "f,m", "--option", "C"), "is not one of 'A', 'B'"),
    ],
)
def test_what_cannot_be_generated(
    call: Call, tmp_path: Path, words: tuple[str, ...], what: str
) -> None:
    empty = tmp_path / "empty.jsonl"
    empty.write_text('{"text": "Nothing."}\n')
    ended = call(
        *("words", "generate", "--attribute", "sex", "--corpus", empty),
        *("-o", tmp_path / "draft.json", *words),
    )
    assert ended.status == 2 and what in " ".join(ended.err.split())
    assert not (tmp_path / "draft.json").exists()
