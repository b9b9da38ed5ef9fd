"""The judge of documents: joins the sets of one person, and answers by the text alone."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
import pytest

from evenflow.schemas.config import Config
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.models import files
from evenflow.transforms.models.passages import Place
from evenflow.transforms.models.reader import MOST_ABOVE, Reader, Reading, Said
from evenflow.transforms.substitution import reading
from evenflow.transforms.substitution.judges import Asked, ByFirstStage, Judged
from evenflow.transforms.substitution.reading import DocumentJudge
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists.loader import load

TEXT = "A nun sang. Her sister left.\n\nA king slept.\n\nThe queen woke."


@dataclass
class Scripted:
    """A reader that links mentions as told, by their places in the text."""

    links: dict[tuple[int, int], float] = field(default_factory=dict)
    seen: list[list[Place]] = field(default_factory=list)
    passages: list[int] = field(default_factory=list)  # of each reading
    batches: bool = False

    def shows(self, attribute: str) -> bool:
        return attribute != "gender"

    def read(self, text: str, places: Sequence[Place]) -> Reading:
        self.seen.append(list(places))
        return Reading(self, text, places)  # pyright: ignore[reportArgumentType]

    def read_ahead(self, mentions: Iterable[tuple[Reading, int]]) -> None:
        unread = {id(each): each for each, number in mentions if number not in each.known}
        self.passages.append(len(unread))
        for each in unread.values():
            numbers = range(len(each.places))
            each.known |= {
                a: Said(
                    float(a),
                    np.zeros(7),
                    np.zeros(12),
                    {b: self.links.get((min(a, b), max(a, b)), -9.0) for b in numbers if b != a},
                )
                for a in numbers
            }

    def judge(
        self, attribute: str, said: Reading, own: Sequence[int], staying: set[int]
    ) -> tuple[float, str]:
        worst, stay = said.worst(own, staying)
        return worst.right / 10 * (stay < -1), "half" if stay > 0 else ""

    def at_most(self, attribute: str, said: Said) -> float:
        return (said.right + MOST_ABOVE) / 10


def sets_of(text: str, attribute: str = "gender"):
    lists = [load(attribute)]
    finder = LabelFinder(lists)
    return Substituter(lists, attribute, by_line=True).propose(
        text, trimmed(text, bounds(text).tolist()), finder.find(text)
    )


def test_sets_of_one_person_are_joined_and_others_stay() -> None:
    sets = sets_of(TEXT)
    words = [[TEXT[m.start : m.end] for m in each.mentions] for each in sets]
    assert words == [["nun", "Her"], ["sister"], ["king"], ["queen"]]
    reader = Scripted({(1, 2): 2.0, (2, 4): 1.0, (0, 3): 5.0})
    [found] = DocumentJudge(reader).exchanges([Asked(TEXT, sets, [(0, "male"), (2, "female")])])  # pyright: ignore[reportArgumentType]
    assert [each.joined for each in found] == [(0, 1, 3), (2,)]
    # The mean of the least logit, 0, and the mean one, 1.75
    assert [each.probability for each in found] == [0.0875, 0.3]
    assert [each.reason for each in found] == ["", ""]  # nobody of the group stays by half
    [[again]] = DocumentJudge(reader).exchanges([Asked(TEXT, sets, [(3, "male")])])  # pyright: ignore[reportArgumentType]
    assert again.joined == found[0].joined and again.probability == found[0].probability


def test_the_reader_sees_the_new_words_where_it_learnt_with_them() -> None:
    text = "A pastor sang. Two Muslims left."
    sets = sets_of(text, "religion")
    reader = Scripted()
    number = next(n for n, each in enumerate(sets) if "hinduism" in each.edits)
    list(DocumentJudge(reader).exchanges([Asked(text, sets, [(number, "hinduism")])]))  # pyright: ignore[reportArgumentType]
    shown = {place.new for places in reader.seen for place in places}
    assert {edit.replacement for edit in sets[number].edits["hinduism"]} <= shown
    judge = DocumentJudge(reader := Scripted())  # pyright: ignore[reportArgumentType]
    list(judge.exchanges([Asked(TEXT, sets_of(TEXT), [(0, "male")])]))  # pyright: ignore[reportArgumentType]
    assert {place.new for places in reader.seen for place in places} == {""}


def test_a_set_that_is_refused_by_itself_is_not_joined_and_the_others_are_judged_as_before() -> (
    None
):
    reader, sets = Scripted({(1, 2): 2.0, (2, 4): 1.0}), sets_of(TEXT)
    asked = Asked(TEXT, sets, [(0, "male"), (1, "male"), (2, "female"), (3, "male")])
    [before] = DocumentJudge(reader).exchanges([asked])  # pyright: ignore[reportArgumentType]
    [after] = DocumentJudge(reader, lambda _: 0.2).exchanges([asked])  # pyright: ignore[reportArgumentType]
    assert [each.joined for each in before] == [(0, 1, 3), (0, 1, 3), (2,), (0, 1, 3)]
    assert after[0] == Judged(0.0, "", (0,)) and after[1:] == before[1:]


@pytest.mark.parametrize(("least", "joined"), [(None, 1), (0.15, 2), (0.3, 1)])
def test_who_may_change_in_a_document_changes_together(least: float | None, joined: int) -> None:
    """By a weak link the queen may be the sister: they refuse each other unless both change."""
    reader, sets = Scripted({(2, 4): -0.5}), sets_of(TEXT)
    asked = Asked(TEXT, sets, [(0, "male"), (1, "male"), (3, "male")])
    judge = DocumentJudge(reader, None if least is None else lambda _: least)  # pyright: ignore[reportArgumentType]
    [found] = judge.exchanges([asked])
    assert found[0].joined == (0,)
    assert [each.joined for each in found[1:]] == ([(1,), (3,)] if joined == 1 else [(1, 3)] * 2)
    chances = [each.probability for each in found[1:]]
    assert chances == ([0.2, 0.4] if joined == 2 else [0.0, 0.0])


def test_the_least_probability_is_looked_up_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[str] = []  # it is in a table, or in a file
    monkeypatch.setattr(reading, "min_probability", lambda _, name: looked.append(name) or 0.2)
    monkeypatch.setattr(Reader, "shipped", lambda _: Scripted())
    judge, asked = reading.judge_of(Config()), [(0, "male"), (1, "male"), (2, "female")]
    assert judge and list(judge.exchanges([Asked(TEXT, sets_of(TEXT), asked)]))
    assert looked == ["gender"]


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_and_batches_answer_as_one_passage_at_a_time_does(threads: int) -> None:
    asked = [
        Asked(text, sets, [(number, "male") for number, each in enumerate(sets) if each.edits])
        for number in range(reading.TOGETHER + 2)
        if (sets := sets_of(text := f"A nun has {number} cats. She saw a queen and her sister."))
    ]
    one, several = DocumentJudge(Reader.shipped()), DocumentJudge(Reader.shipped(), threads=threads)
    wanted = list(one.exchanges(asked))
    assert list(several.exchanges(asked)) == wanted
    batches = DocumentJudge(Reader(files.SHIPPED, batches=True), threads=threads)
    for found, each in zip(batches.exchanges(asked[:20]), wanted, strict=False):
        for one, other in zip(found, each, strict=True):
            assert one == other._replace(probability=pytest.approx(other.probability, abs=1e-4))


@pytest.mark.parametrize(
    ("min_probability", "wanted"), [(0.0, 0.0), (0.1, 0.0), (0.72, reading.UNREAD), (1.0, 1.0)]
)
def test_the_reader_is_not_asked_about_what_it_would_hardly_ever_accept(
    min_probability: float, wanted: float
) -> None:
    judge = DocumentJudge(Scripted())  # pyright: ignore[reportArgumentType]
    assert reading.least(judge, min_probability) == wanted
    assert reading.least(None, min_probability) == min_probability
    assert reading.least(ByFirstStage(), min_probability) == min(reading.UNLIKELY, wanted)


def of(**repair: object) -> Config:
    return Config.model_validate({"repair": repair})


@pytest.mark.parametrize(
    ("repair", "wanted"),
    [
        ({"min_probability": 0.3}, 0.3),
        ({"judge": "fast"}, reading.MIN_PROBABILITY),
        ({"method": "base"}, reading.MIN_PROBABILITY),
        ({"target_precision": 1.0}, 1.0),
    ],
)
def test_min_probability_is_set_or_follows_from_the_precision(
    repair: dict[str, object], wanted: float
) -> None:
    assert reading.min_probability(of(**repair), "gender") == wanted


def test_a_run_says_what_labels_show_by_the_standard_asked_for() -> None:
    wanted = {"gender": 0.8, "age": 0.1, "religion": 0.4}
    by_sentence = of(standard="sentence", target_precision=wanted, mode="substitute")
    gender, age, religion = reading.promises(by_sentence)
    least = reading.min_probability(by_sentence, "age")
    assert age == (
        f"age: by sentence from probability {least:g}: 0.27 [0.11, 0.52] of 15 right;"
        " by document 0.07"
    )
    assert " right; by document 0." in gender and 0 < least < 0.1
    # Fewer than ten labelled ones are of documents that the reader did not learn from
    assert religion == "off for religion: no labels show 0.40 by sentence"
    assert reading.min_probability(by_sentence, "religion") == 1.0
    by_sentence.repair.target_precision = 0.9
    best = "off for age: no labels show 0.90 by sentence; best 0.27 ["
    assert reading.promise(by_sentence, "age").startswith(best)
    own = Config.model_validate({"attributes": {"gender": {"wordlist": "mine"}, "seniority": {}}})
    for each in reading.promises(own, every=True):
        assert each.endswith(": exchanged from probability 0.68; nobody measured how often right")
    own.repair.target_precision = 1.0
    assert [each[-4:] for each in reading.promises(own, every=True)] == ["ment"] * 2
    assert reading.promises(of()) == [] and len(reading.promises(of(), every=True)) == 3


def test_what_stays_says_what_it_needs() -> None:
    assert reading.doubted(of(), "gender") == "too unsure, it needs a probability of 0.68"
    assert reading.doubted(of(), "age").startswith("off for age: no labels show 0.80")
    assert reading.doubted(of(min_probability=1.0), "age").endswith("needs a probability of 1")
    assert "nobody measured" in reading.promise(of(judge="fast"), "gender")
    assert reading.worth_asking(of(), "age") == reading.WORTH_ASKING
    assert reading.worth_asking(of(standard="sentence"), "religion") < 0.1


@pytest.mark.parametrize("batches", [False, True])
@pytest.mark.parametrize(("kept", "read_again"), [(reading.KEPT, 0), (1, 2)])
def test_a_document_is_read_once_as_far_as_there_is_room(
    monkeypatch: pytest.MonkeyPatch, kept: int, read_again: int, batches: bool
) -> None:
    monkeypatch.setattr(reading, "KEPT", kept)
    reader = Scripted({(1, 2): 2.0, (2, 4): 1.0}, batches=batches)
    judge = DocumentJudge(reader)  # pyright: ignore[reportArgumentType]
    asked = [
        Asked(text, sets_of(text), [(0, "male"), (3, "male")])
        for text in (TEXT, TEXT.replace("nun", "aunt"))
    ]
    first = list(judge.exchanges(asked))
    assert reader.passages == ([2, 0] if batches else [1, 1])
    assert list(judge.exchanges(asked)) == first
    assert sum(reader.passages) == 2 + read_again
