from scripted_judge import First

from evenflow.schemas.config import load
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.staging.proposals import Proposed, Proposer
from evenflow.transforms.text.sentences import sentences
from evenflow.wordlists import loader

LISTS = [loader.load("gender"), loader.load("religion")]
TEXTS = [
    "A clerk put his pen on the desk, and he left. The nurse washed her hands.",
    "He or she led an army.",
    "Nothing here.",
    "Every student brought his book. The waiter hurt himself.",
]


def proposer(mode: str = "substitute", **options: object) -> Proposer:
    config = load(
        None,
        {"repair.mode": mode, "attributes": {"gender": {}, "religion": {"mode": "measure"}}}
        | options,
    )
    return Proposer(config, LISTS, first=First(lambda shown: 0.25))


def proposed(by: Proposer) -> list[Proposed]:
    finder = LabelFinder(LISTS)
    found = [
        by.propose(at, f"d{at}", text, sentences(text), finder.find(text))
        for at, text in enumerate(TEXTS)
    ]
    return [each for each in found if each is not None]


def test_only_attributes_whose_text_may_change_are_proposed_for() -> None:
    assert proposer().attributes == ("gender",) and proposer("weight").attributes == ()
    found = proposed(proposer())
    assert [each.ordinal for each in found] == [0, 1, 3] and all(
        set(each.sets) == {"gender"} for each in found
    )
    assert {one.confidence for each in found for one in each.sets["gender"]} == {0.25, 0.0}


def test_written_and_read_again() -> None:
    for by in (proposer(), proposer("augment"), proposer(**{"repair.method": "base"})):
        found = proposed(by)
        again = [Proposed.from_line(each.line()) for each in found]
        assert again == [Proposed.from_line(each.line(), "gender") for each in found]
        assert all(Proposed.from_line(each.line(), "religion").sets == {} for each in found)
        assert [(each.ordinal, each.id, each.counts) for each in again] == [
            (e.ordinal, e.id, e.counts) for e in found
        ]
        assert [list(each.sets["gender"]) for each in again] == [
            each.sets["gender"] for each in found
        ]


def test_counts_are_kept_for_copies_alone() -> None:
    assert all(each.counts == {} for each in proposed(proposer()))
    assert proposed(proposer("augment"))[0].counts == {"gender": [1, 2]}
