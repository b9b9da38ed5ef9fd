from pathlib import Path

from evenflow.schemas.config import load
from evenflow.transforms import eligibility, proposals
from evenflow.transforms.labels import LabelFinder
from evenflow.transforms.proposals import Proposed, Proposer, Summary
from evenflow.transforms.sentences import sentences
from evenflow.wordlists import loader

LISTS = [loader.load("gender"), loader.load("religion")]
TEXTS = [
    "A clerk put his pen on the desk, and he left. The nurse washed her hands.",
    "George Washington led his army.",
    "Nothing here.",
    "Every student brought his book. The waiter hurt himself.",
]


def proposer(mode: str = "substitute") -> Proposer:
    return Proposer(load(None, {"repair.mode": mode, "attributes": {"gender": {}, "religion": {"mode": "measure"}}}), LISTS)


def proposed(by: Proposer) -> list[Proposed]:
    finder = LabelFinder(LISTS)
    found = []
    for number, text in enumerate(TEXTS):
        each = by.propose(number, f"d{number}", text, sentences(text), finder.find(text))
        if each is not None:
            found.append(each)
    return found


def test_only_attributes_whose_text_may_change_are_proposed_for() -> None:
    by = proposer()
    assert by.attributes == ("gender",) and proposer("reweight").attributes == ()
    found = proposed(by)
    assert [each.ordinal for each in found] == [0, 1, 3] and all(set(each.sets) == {"gender"} for each in found)


def test_written_and_read_again(tmp_path: Path) -> None:
    for mode in ("substitute", "augment"):
        by = proposer(mode)
        found = proposed(by)
        path = tmp_path / f"{mode}.sets"
        proposals.write(path, found, by)
        again = list(proposals.read(path))
        assert [(each.ordinal, each.id, each.counts) for each in again] == [(e.ordinal, e.id, e.counts) for e in found]
        for one, two in zip(found, again, strict=True):
            for before, after in zip(one.sets["gender"], two.sets["gender"], strict=True):
                assert (before.source, before.confidence, before.mentions) == (after.source, after.confidence, after.mentions)
                assert {key: list(value) for key, value in before.edits.items()} == {k: list(v) for k, v in after.edits.items()}
                assert before.reason == after.reason
                assert eligibility.is_eligible(before, 0.5) == eligibility.is_eligible(after, 0.5)
        assert proposals.read_summary(path) == by.summary(found)


def test_summaries_add_up_and_documents_can_be_dropped(tmp_path: Path) -> None:
    by = proposer()
    found = proposed(by)
    total = Summary()
    for each in found:
        total.add(by.summary([each]))
    assert total == by.summary(found)
    assert total.sets["gender"] == sum(len(each.sets["gender"]) for each in found)
    assert sum(total.barred["gender"].values()) < total.sets["gender"]
    path = tmp_path / "b.sets"
    proposals.write(path, found, by)
    proposals.drop(path, [0, 1], by)
    assert [each.ordinal for each in proposals.read(path)] == [3]
    assert proposals.read_summary(path) == by.summary([found[2]])


def test_counts_are_kept_for_copies_alone() -> None:
    assert all(each.counts == {} for each in proposed(proposer()))
    assert proposed(proposer("augment"))[0].counts == {"gender": [1, 2]}
