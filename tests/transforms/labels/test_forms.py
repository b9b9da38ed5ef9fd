"""What a label is by the characters beside it."""

from __future__ import annotations

import pytest

import evenflow
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.wordlists.loader import load


@pytest.fixture(scope="module")
def finder() -> LabelFinder:
    return evenflow.Annotator(attributes=["gender"]).finder


def found(finder: LabelFinder, text: str) -> list[tuple[str, str]]:
    return [(each.label, text[each.start : each.end]) for each in finder.find(text)]


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("A nurse says s/he is late.", ["she", "he"]),
        ("If (s)he asks, wait.", ["she", "he"]),
        ("S(he) asks, and each (wo)man votes.", ["she", "he", "woman", "man"]),
        ("Each wo/man votes.", ["woman", "man"]),
        ("Sex: fe/male", ["female", "male"]),
        ("the chair(wo)man of it", ["woman", "man"]),
        ("a prince(ss) of it", ["prince", "princess"]),
        ("a widow/er of it, a waiter/tress", ["widow", "widower", "waiter", "waitress"]),
        ("(fe)males and (wo)men", ["females", "males", "women", "men"]),
        ("he/she and women/men", ["he", "she", "women", "men"]),
        ("[wo]men, {wo}men, (wo-)men, wo[men], wo*men", ["women", "men"] * 5),
        (
            "Mr./Mrs. Hu, mr/ms Hu, the bride(groom)",
            ["mr", "mrs", "mr", "ms", "bride", "bridegroom"],
        ),
    ],
)
def test_an_inclusive_form_is_one_of_each(
    finder: LabelFinder, text: str, labels: list[str]
) -> None:
    assert [label for label, _ in found(finder, text)] == labels


@pytest.mark.parametrize("hyphen", ["-", "\u2010", "\u00ad", "- "])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n  ", "\n\t"])
def test_a_word_that_a_lines_end_broke_is_one_word(
    finder: LabelFinder, hyphen: str, end: str
) -> None:
    broken = [f"{part}{hyphen}{end}" for part in ("the wo", "a fe", "every hu")]
    whole = found(
        finder, f"Her hus{hyphen}{end}band saw a po{hyphen}{end}liceman and a he{hyphen}{end}ro."
    )
    assert [label for label, _ in whole] == ["her", "husband", "policeman", "hero"]
    text = f"Here {broken[0]}man and {broken[1]}male and {broken[2]}man being."
    assert [label for label, _ in found(finder, text)] == ["woman", "female"]
    assert found(finder, f"Here the business{hyphen}{end}man came.") == [
        ("businessman", f"business{hyphen}{end}man")
    ]


@pytest.mark.parametrize(
    "text",
    [
        "The request took 120 ms on average, 3 ms/op; HER-2 grew.",
        "It took 591ms, then 600 ms.",
        "The interval (in ms) is set here.",
        "We used LC-MS/MS for the sample.",
        "He lives in it"[3:] + " Jackson, MS, since then",
        "An MR scan of the knee was made.",
        "Open the file in MS Office and save it.",
        "See man(1) and man(3p) for the options.",
        "It stands in /usr/share/man and ~/man/x.",
        "The page ./docs/man/index.html is made.",
        "It lies in C:\\man\\pages today.",
        'The tag <html lang="he"> is for Hebrew.',
        "Open he.wikipedia.org for more.",
        "Type `man tar` for the options.",
        "A man-in-the-middle attack took 500 man-hours of man-power.",
    ],
)
def test_a_token_of_code_or_a_unit_is_no_mention(finder: LabelFinder, text: str) -> None:
    assert found(finder, text) == []


@pytest.mark.parametrize(
    ("text", "labels"),
    [
        ("Dear Mr. Smith and Ms Jones,", ["mr", "ms"]),
        ("so may He guide us, we ask His help, when He/She asks", ["he", "his", "he", "she"]),
        (
            "then King Charles, Aunt March and the Queen left by her man-made car",
            ["king", "aunt", "queen", "her", "man"],
        ),
        ("ms smith said that mr jones left", ["ms", "mr"]),
        ("MR SMITH AND MS JONES LEFT", ["mr", "ms"]),
        ("A password: his/her own, or his/her/their.", ["his", "her", "his", "her"]),
        ("It is man-made. She (he) said 'men'.", ["man", "she", "he", "men"]),
        ("3 men and 2 women came.He left", ["men", "women", "he"]),
        ("a well-known half-\nsister and a grand-\nmother", ["half-sister", "grandmother"]),
        ("“He” and ‘she’; (her) — his…", ["he", "she", "her", "his"]),
        ("line one\n  he said\n\n  She left", ["he", "she"]),
    ],
)
def test_words_of_prose_stay(finder: LabelFinder, text: str, labels: list[str]) -> None:
    assert [label for label, _ in found(finder, text)] == labels


@pytest.mark.parametrize("method", ["gc", "base"])
def test_an_inclusive_form_is_never_exchanged(method: str) -> None:
    text = "Every (wo)man knows it, and s/he says so. The man came home."
    written = evenflow.explain(text, attributes=["gender"], counterfactual=method)
    assert written["text_cda"]["gender"] == text.replace("The man", "The woman")


def test_a_broken_word_is_found_without_another_label_and_within_its_document(
    finder: LabelFinder,
) -> None:
    assert found(finder, "po-\nliceman") == [("policeman", "po-\nliceman")]
    assert not len(finder.find_together(["A po-", "liceman"])[2][0].starts)


def test_a_list_of_ones_own_has_its_forms(tmp_path) -> None:
    path = tmp_path / "berufe.yaml"
    path.write_text(
        "attribute: beruf\ngroups:\n  frauen: [lehrerin, köchin]\n  maenner: [lehrer, köch]\n"
    )
    words = load(path)
    text = "Lehrer/in, Lehrer*in, Lehrer(in), Lehrer/-in"
    assert [each.group for each in LabelFinder([words]).find(text)] == ["maenner", "frauen"] * 4


def test_a_label_has_one_sense_in_a_document(finder: LabelFinder) -> None:
    manual = "See man(1) and /usr/share/man. This man page says it. His man is old. She knew him."
    person = "The man read man(1). The man slept, and the man ate."
    assert [label for label, _ in found(finder, manual)] == ["his", "she", "him"]
    assert [label for label, _ in found(finder, person)] == ["man"] * 3
    _, begins, [both] = finder.find_together([person, manual, person])
    owners = begins.searchsorted(both.starts, "right").tolist()
    assert [owners.count(number) for number in (1, 2, 3)] == [3, 3, 3]
    _, _, [some] = finder.find_together(["See man(1).", "See /usr/share/man.", "A man read."])
    assert len(some.starts) == 1
