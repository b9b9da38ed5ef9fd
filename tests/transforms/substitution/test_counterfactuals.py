"""Whole texts through `rewrite`: forms, chains, refusals, judges, and what holds for any text."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scripted_judge import First, Judge

from evenflow.transforms.labels.finder import LabelFinder, Mention
from evenflow.transforms.substitution import sets
from evenflow.transforms.substitution.counterfactuals import Rewritten, rewrite
from evenflow.transforms.substitution.sets import Edit
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.substitution.windows import show_windows
from evenflow.wordlists import loader

GENDER, AGE, RELIGION = map(loader.load, ("gender", "age", "religion"))
LISTS = {"gender": GENDER, "age": AGE, "religion": RELIGION}


def gender(text: str, judge: Judge | None = None, min_probability: float = 0.5) -> Rewritten:
    return rewrite(text, [GENDER], "gender", min_probability=min_probability, judge=judge)


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("She lost her keys.", "He lost his keys."),
        ("HER DOG BIT HIM!", "HIS DOG BIT HER!"),
        ("I gave her a book. Her sister smiled.", "I gave him a book. His brother smiled."),
        ("I told her that the keys were hers.", "I told him that the keys were his."),
        ("He taught himself; the guitar was his.", "She taught herself; the guitar was hers."),
        ("She's late and she'd rather stay.", "He's late and he'd rather stay."),
        ("My mother-in-law is a businesswoman.", "My father-in-law is a businessman."),
        ("The ladies' shoes were gone.", "The gentlemen's shoes were gone."),
        ("The actress's dress was red.", "The actor's dress was red."),
        ("An uncle of mine sings.", "An aunt of mine sings."),
        ("He is an actor and a nephew.", "She is an actress and a niece."),
        ("Ms. Garcia taught. Her students love her.", "Mr. Garcia taught. His students love him."),
        ("She is a saleswoman.", "He is a salesman."),
        ("My cousin is an heiress; she sings.", "My cousin is an heir; he sings."),
        ("The man told his son he loved him.", "The woman told her daughter she loved her."),
        ("mankind, manpower, Germany, a shepherd", "mankind, manpower, Germany, a shepherd"),
    ],
)
def test_gender_is_exchanged_with_its_grammar(text: str, wanted: str) -> None:
    assert gender(text).text == wanted


@pytest.mark.parametrize(
    ("text", "target", "wanted"),
    [
        ("The Muslim woman at the mosque.", "christianity", "The Christian woman at the church."),
        ("A Christian family went to church.", "islam", "A Muslim family went to the mosque."),
        ("My neighbor is a Jew.", "hinduism", "My neighbor is a Hindu."),
        ("A Catholic priest smiled.", "islam", "An imam smiled."),
        ("Our Jewish neighbors invited us.", "buddhism", "Our Buddhist neighbors invited us."),
        ("The rabbi's car broke down.", "christianity", "The pastor's car broke down."),
        ("the bible of a muslim", "judaism", "the bible of a jew"),
        ("The Hajj draws millions.", "christianity", "The Hajj draws millions."),
        ("A teenager stole my bike.", "old", "A retiree stole my bike."),
        ("A youthful teenager sang.", "old", "A retiree sang."),
        ("An elderly man sat there.", "middle", "A middle-aged man sat there."),
        ("Pensioners like the park.", "young", "Teenagers like the park."),
        ("The elderly are often lonely.", "middle", "The elderly are often lonely."),
        ("A retired cook, his wrinkled hands.", "young", "A retired cook, his wrinkled hands."),
        ("The pastor sang.", "buddhism", "The pastor sang."),
        ("The pastor sang.", "judaism", "The rabbi sang."),
        ("I kid you not.", "old", "I kid you not."),
        ("The elderly are often lonely.", "young", "The elderly are often lonely."),
    ],
)
def test_religion_and_age_by_role(text: str, target: str, wanted: str) -> None:
    words = AGE if target in AGE.groups else RELIGION
    changed = rewrite(
        text, [words], words.attribute, target=target, source="islam" if "bible" in text else None
    )
    assert changed.text == wanted


GERMAN = "Heute kaufte die alte Frau mit Heinz am Morgen hat Brot."


@pytest.mark.parametrize(
    ("text", "reasons"),
    [
        ("He or she must sign his or her form.", {sets.EVEN}),
        ("The butler sang.", {sets.NO_COUNTERPART}),
        (GERMAN.replace("Heinz", "monk"), {sets.FOREIGN}),
        ("she " * 1300, {sets.LONG}),
        # One of the chain's sentences
        ("She left. " + "She went on and " * 400 + "sat.", {sets.LONG}),
    ],
)
def test_a_set_that_its_form_refuses_stays_with_its_reason(text: str, reasons: set[str]) -> None:
    result = gender(text, min_probability=0)
    assert (result.text, result.edits) == (text, ())
    assert {each.reason for each in result.sets} == reasons
    assert not any(each.edits or each.confidence for each in result.sets)


def test_a_mention_inside_one_of_another_attribute_stays() -> None:
    text = "The elderly woman smiled."
    mentions = LabelFinder([GENDER, AGE]).find(text)
    overlapping = [*mentions, Mention(4, 17, "elderly woman", "age", "old")]
    proposed = Substituter([GENDER, AGE], "gender").propose(text, [(0, len(text))], overlapping)
    assert [each.reason for each in proposed] == [sets.OVERLAP]


def test_sets_have_their_places() -> None:
    text = "A nun sang. It rained. She left."
    (only,) = gender(text).sets
    assert (only.sentences, only.spans) == ((0, 2), ((0, 11), (23, 32)))
    assert (only.source, only.targets, only.confidence) == ("female", ("male",), 1.0)
    assert [text[each.start : each.end] for each in only.mentions] == ["nun", "She"]
    assert only.edits["male"] == (Edit(2, 5, "monk"), Edit(23, 26, "He"))
    assert show_windows(text, only, "male") == ["A [nun|monk] sang. It rained. [She|He] left."]


def test_source_and_target_limit_what_changes() -> None:
    text = "The girl met a boy."
    assert (
        rewrite(text, [GENDER], "gender", source="male", target="female").text
        == "The girl met a girl."
    )
    assert rewrite(text, [GENDER], "gender", source="female").text == "The boy met a boy."


def test_of_several_groups_all_of_a_texts_people_go_to_one() -> None:
    for number in range(8):
        edits = rewrite(
            f"An imam sang.\nA mullah sang.\nThe imam sang {number}.", [RELIGION], "religion"
        ).edits
        assert len({edit.replacement for edit in edits if len(edit.replacement) > 2}) == 1


def test_a_judge_decides_about_each_wanted_exchange() -> None:
    text = "A nun sang.\n\nGrandfather said he would help.\n\nMen and women came."
    judge = Judge(lambda shown: 0.2 if "[Grandfather" in shown else 0.7, "named")
    result = gender(text, judge)
    assert result.text == text.replace("nun", "monk")
    assert [each for _, each in judge.asked] == [
        " ".join(show_windows(text, each, *each.targets)) for each in result.sets if each.edits
    ]
    assert {each.reason: each.confidence for each in result.sets} == {
        "": 0.7,
        "named": 0.2,
        sets.EVEN: 0.0,
    }
    assert gender(text, judge, min_probability=0.71).text == text


@pytest.mark.parametrize(("source", "asked"), [("female", 1), ("male", 0), (None, 1)])
def test_a_judge_is_not_asked_about_unwanted_exchanges(source: str | None, asked: int) -> None:
    judge = Judge()
    rewrite("A nun sang.", [GENDER], "gender", source=source, judge=judge)
    assert len(judge.asked) == asked


@pytest.mark.parametrize("end", ["\n", "\n\n", "\r\n", "  "])
def test_the_blank_at_a_texts_end_changes_no_answer(end: str) -> None:
    for text in (
        *(f"A Christian baker sold bread {n} times." for n in range(20)),
        # The window reaches the text's end
        "A pastor sang." + " It was cold" + "." * 46,
    ):
        one, other = First(lambda shown: 1.0), First(lambda shown: 1.0)
        proposed = [
            Substituter([RELIGION], "religion", first=first).propose(
                each, [(0, text.index(".") + 1)], LabelFinder([RELIGION]).find(each)
            )
            for each, first in ((text, one), (text + end, other))
        ]
        assert proposed[0] == proposed[1] and one.asked == other.asked
        assert (
            rewrite(text, [RELIGION], "religion").text + end
            == rewrite(text + end, [RELIGION], "religion").text
        )


def test_the_first_stage_gives_the_greatest_probability_of_a_sets_targets() -> None:
    first = First(
        lambda shown: {"A [pastor|imam] sang.": 0.3, "A [pastor|rabbi] sang.": 0.8}.get(shown, 0.1)
    )
    text = "A pastor sang."
    (proposed,) = Substituter([RELIGION], "religion", first=first).propose(
        text, [(0, len(text))], LabelFinder([RELIGION]).find(text)
    )
    assert (proposed.confidence, len(first.asked)) == (0.8, 3)


def test_the_first_stage_is_asked_once_about_a_document_and_not_about_refused_sets() -> None:
    text = "Men and women came."
    first = First()
    assert Substituter([GENDER], "gender", first=first).propose(
        text, [(0, len(text))], LabelFinder([GENDER]).find(text)
    )
    assert first.asked == []


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"attribute": "shoe"}, "shoe"),
        ({"method": "x"}, "gc or base"),
        ({"source": "old"}, "no such group"),
        ({"target": "old"}, "no such group"),
    ],
)
def test_an_unknown_name_is_an_error(given: dict[str, str], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rewrite("x", [GENDER], **({"attribute": "gender"} | given))  # type: ignore[arg-type]


def test_a_users_list_is_exchanged_by_its_pairs(tmp_path: Path) -> None:
    path = tmp_path / "marital.yaml"
    path.write_text(
        "attribute: marital\ngroups: [married, single]\npairs:\n  - [husband, bachelor]\n",
        encoding="utf-8",
    )
    words = loader.load(path)
    assert rewrite("The husband smiled.", [words], "marital").text == "The bachelor smiled."


# Pairs that are each other's only counterpart.
PAIRS = [
    ("woman", "man"),
    ("sister", "brother"),
    ("daughter", "son"),
    ("queen", "king"),
    ("niece", "nephew"),
    ("actress", "actor"),
]
FRAMES = ["{} smiled at us.", "We saw the {} there.", "THE {}'s car broke down.", "{}, come here!"]


@settings(max_examples=40)
@given(
    st.sampled_from(PAIRS),
    st.sampled_from(FRAMES),
    st.sampled_from([str, str.upper, str.capitalize]),
    st.booleans(),
)
def test_there_and_back_gives_the_original(
    pair: tuple[str, str], frame: str, case: Callable[[str], str], first: bool
) -> None:
    text = frame.format(case(pair[0] if first else pair[1]))
    there = gender(text).text
    assert there == frame.format(case(pair[1] if first else pair[0]))
    assert gender(there).text == text


WORDS = st.sampled_from(
    [
        *("she", "his", "HER", "the nun", "Mr. Smith", "an elderly", "Muslim", "church", "“"),
        *("\n\n", ". ", "'s", "a ", "and", "youthful"),
    ]
)
TEXTS = st.lists(st.one_of(WORDS, st.text(max_size=8)), max_size=25).map(" ".join)


@settings(max_examples=40)
@given(TEXTS, st.sampled_from(sorted(LISTS)), st.sampled_from(["gc", "base"]))
def test_every_character_outside_the_edits_stays(text: str, attribute: str, method: str) -> None:
    result = rewrite(
        text, [LISTS[attribute]], attribute, "base" if method == "base" else "gc", min_probability=0
    )
    at = shift = 0
    for start, end, replacement in result.edits:
        assert result.text[at + shift : start + shift] == text[at:start]
        assert result.text[start + shift : start + shift + len(replacement)] == replacement
        at, shift = end, shift + len(replacement) - (end - start)
    assert result.text[at + shift :] == text[at:]


@settings(max_examples=40)
@given(TEXTS, st.sampled_from(sorted(LISTS)))
def test_each_mention_is_in_one_set_with_all_of_it_shown(text: str, attribute: str) -> None:
    words = LISTS[attribute]
    found = rewrite(text, [words], attribute)
    assert found == rewrite(text, [words], attribute)
    mentions = [mention for each in found.sets for mention in each.mentions]
    assert sorted(mentions, key=lambda each: each.start) == LabelFinder([words]).find(text)
    for each in found.sets:
        assert bool(each.edits) == bool(each.confidence) != bool(each.reason)
        for target in each.edits:
            assert show_windows(text, each, target)
            for start, end, _ in each.edits[target]:
                assert any(low <= start and end <= high for low, high in each.spans)
