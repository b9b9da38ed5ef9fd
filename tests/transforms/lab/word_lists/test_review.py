"""Drafts, the journal of decisions, agreement, and the list that comes of them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Literal

import pytest
import word_drafts

from evenflow.transforms.lab.word_lists import agreement, draft, finish
from evenflow.transforms.lab.word_lists.draft import DraftError
from evenflow.transforms.lab.word_lists.journal import Journal
from evenflow.transforms.lab.word_lists.proposals import SEED, Proposal
from evenflow.wordlists import loader, writing
from evenflow.wordlists.parsing import label_problem


def proposed(*words: str, group: str = "wood", source: str = "neighbour") -> list[Proposal]:
    """Proposals of a group."""
    return [Proposal(word, group, source) for word in words]


def made_of(
    wood: list[Proposal], texts: list[list[str]], option: Literal["A", "B"] = "B"
) -> draft.Draft:
    """A draft of two groups, the second of which has a smith."""
    words = {"wood": wood, "metal": proposed("smith", group="metal")}
    return draft.make("craft", words, texts, option=option, top=5, source="test", licence="")


def test_seeds_stay_as_they_are_given_and_stop_words_are_left_out() -> None:
    seeds = proposed("whittler", "Will", source=SEED)
    wanted = [*seeds, *proposed("carver", "the")]
    made = made_of(wanted, [["The carver and a smith."]])
    wood = {each.word: each for each in made.candidates if each.group == "wood"}
    assert list(wood) == ["whittler", "Will", "carver"]
    assert wood["whittler"].mentions == 0 and not wood["Will"].warnings


@pytest.mark.parametrize(("option", "first"), [("A", "joiner"), ("B", "carver")])
def test_a_draft_has_what_the_corpus_has(option: Literal["A", "B"], first: str) -> None:
    made = made_of(
        proposed("carver", "carvers", "joiner", "whittler", "CARVER"),
        [["The carvers saw a joiner. Joiners!", "A smith."]],
        option,
    )
    wood = [each for each in made.candidates if each.group == "wood"]
    assert wood[0].word == first and len(wood) == 2
    assert {each.word: each.forms for each in wood} == {
        "carver": {"carvers": 1},
        "joiner": {"joiner": 1, "joiners": 1},
    }
    assert wood[0].examples and made.documents == 2


def test_words_of_other_languages_and_scripts(tmp_path: Path) -> None:
    words = ("אישה", "женщина", "señora", "女人", "🙂", "\u202eevil")
    texts = ["האישה? אישה כאן.", "Женщина и женщина.", "La señora 🙂.", "女人 好"]
    usable = [each for each in words if not label_problem(each)]
    assert usable == ["אישה", "женщина", "señora"]
    made = draft.make(
        "sex",
        {"f": proposed(*usable, group="f"), "m": proposed("man", group="m")},
        [texts, ["A man."]],
        option="B",
        top=9,
        source="",
        licence="",
    )
    assert {each.word: each.mentions for each in made.candidates} == {
        "אישה": 1, "женщина": 2, "señora": 1, "man": 1,
    }  # fmt: skip
    path = tmp_path / "draft.json"
    draft.write(path, made)
    own = Journal(draft.read(path), path)
    for each in made.candidates:
        own.add("عائشة", each.word, "accept", each.group)
    target = tmp_path / "sex.yaml"
    target.write_text(writing.content(finish.finish(made, own.state().opinions)))
    assert set(loader.load(target).labels) == {*usable, "man"}


def test_a_draft_without_words_in_the_corpus() -> None:
    with pytest.raises(DraftError, match="none of the proposed words"):
        made_of(proposed("carver"), [])


def test_a_draft_that_was_edited_by_hand(tmp_path: Path) -> None:
    path = word_drafts.written(tmp_path)
    assert draft.read(path) == word_drafts.draft()
    good = path.read_text()
    for old, new, what in [
        ('"format"', '"formt"', "no draft of a word list"),
        ('"word":"word1"', '"word":"word3"', "stands twice"),
        ('"group":"metal"', '"group":"glass"', "of no group"),
        ("{", "", "no draft of a word list"),
    ]:
        path.write_text(good.replace(": ", ":").replace(old, new, 1))
        with pytest.raises(DraftError, match=what):
            draft.read(path)


def test_decisions_survive_a_torn_line_and_other_processes(tmp_path: Path) -> None:
    path = word_drafts.written(tmp_path)
    first, second = (Journal(draft.read(path), path) for _ in range(2))
    first.add("Ada", "word0", "accept", "wood")
    with first.path.open("ab") as file:
        file.write(b'{"at":"2026')  # a kill in the middle of a line
    assert second.state().entries == 1
    second.add("Ben", "word0", "reject")
    first.add("Ada", "word1", "accept", "metal")
    found = first.state().opinions
    assert {who: sorted(own) for who, own in found.items()} == {
        "Ada": ["word0", "word1"],
        "Ben": ["word0"],
    }
    assert second.state() == first.state() == Journal(draft.read(path), path).state()


def test_a_full_disk_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = word_drafts.written(tmp_path)
    own = Journal(draft.read(path), path)
    own.add("Ada", "word0", "accept", "wood")
    before = own.path.read_bytes()
    write = os.write
    monkeypatch.setattr(os, "write", lambda file, data: write(file, data[:5]))
    with pytest.raises(OSError, match="No space left"):
        own.add("Ada", "word1", "reject")
    assert own.path.read_bytes() == before
    monkeypatch.undo()
    own.add("Ada", "word1", "reject")
    assert own.state().entries == 2


def test_decisions_that_do_not_fit(tmp_path: Path) -> None:
    path = word_drafts.written(tmp_path)
    own = Journal(draft.read(path), path)
    for word, action, value in [
        ("none", "reject", ""),
        ("word0", "accept", "glass"),
        ("word0", "merge", "word0"),
        ("word0", "pair", "none"),
        ("word0", "comment", "x" * 5000),
    ]:
        with pytest.raises(DraftError):
            own.add("Ada", word, action, value)  # type: ignore[arg-type]
    with pytest.raises(DraftError):
        own.add(" ", "word0", "reject")
    assert not own.state().entries
    good = {"at": "now", "reviewer": "Ada", "action": "pair", "word": "word0", "value": "word1"}
    for line in (
        "nonsense",
        json.dumps(good | {"word": "other"}),
        json.dumps(good | {"value": ""}),
    ):
        own.path.write_text(line + "\n")
        with pytest.raises(DraftError, match=":1: no decision of a review of this draft"):
            own.state()


def test_undo_takes_back_the_last_action(tmp_path: Path) -> None:
    path = word_drafts.written(tmp_path)
    own = Journal(draft.read(path), path)
    own.add("Ada", "word0", "accept", "wood")
    own.add("Ben", "word1", "reject")
    own.add("Ada", "word0", "reject")
    assert own.state().last_of("Ada") == "word0"
    own.add("Ada", "word0", "undo")
    assert own.state().opinions["Ada"]["word0"].group == "wood"
    own.add("Ada", "word0", "undo")
    assert own.state().last_of("Ada") is None
    assert not own.state().opinions["Ada"]["word0"].decided


def test_kappas_of_published_examples() -> None:
    # Fleiss (1971), Table 1 as it is usually shown: 10 items, 14 raters, kappa 0.210
    counts = [
        *((0, 0, 0, 0, 14), (0, 2, 6, 4, 2), (0, 0, 3, 5, 6), (0, 3, 9, 2, 0), (2, 2, 8, 1, 1)),
        *((7, 7, 0, 0, 0), (3, 2, 6, 3, 0), (2, 5, 3, 2, 2), (6, 5, 2, 1, 0), (0, 2, 2, 3, 7)),
    ]
    items = [[str(name) for name, n in enumerate(row) for _ in range(n)] for row in counts]
    assert agreement.fleiss(items) == pytest.approx(0.210, abs=5e-4)
    # 20 yes by both, 15 no by both, 15 apart: observed 0.7, by chance 0.55² + 0.45²
    pairs = [("y", "y")] * 20 + [("y", "n")] * 5 + [("n", "y")] * 10 + [("n", "n")] * 15
    assert agreement.fleiss(pairs) == pytest.approx((0.7 - 0.505) / 0.495)
    assert agreement.fleiss([("y", "y")] * 3) is None


def test_a_list_is_made_of_what_was_accepted(tmp_path: Path) -> None:
    path = word_drafts.written(tmp_path)
    made = draft.read(path)
    own = Journal(made, path)
    for word, group in [("word0", "wood"), ("word1", "metal")]:
        own.add("Ada", word, "accept", group)
    own.add("Ada", "word0", "pair", "word1")
    with pytest.raises(DraftError, match="2 words are undecided: word2, word3"):
        finish.finish(made, own.state().opinions)
    own.add("Ada", "word2", "merge", "word0")
    own.add("Ada", "word3", "reject")
    own.add("Ben", "word3", "accept", "metal")
    with pytest.raises(DraftError, match="differ about 1 words: word3"):
        finish.finish(made, own.state().opinions)
    own.add("Cem", "word3", "reject")
    words = finish.finish(made, own.state().opinions, majority=True)
    target = tmp_path / "craft.yaml"
    target.write_text(writing.content(words))
    read = loader.load(target)
    assert read.labels == {
        "word0": 0, "word0s": 0, "word2": 0, "word2s": 0, "word1": 1, "word1s": 1,
    }  # fmt: skip
    assert read.pairs == (("word0", "word1"), ("word0s", "word1s"))
    assert read.provenance["word1s"] == "neighbour"
    assert "Ada, Ben, Cem" in read.review and "Fleiss' kappa" in read.review
