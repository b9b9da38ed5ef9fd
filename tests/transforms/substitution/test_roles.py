"""Role maps."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.substitution import roles
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import sentences
from evenflow.wordlists import loader, spelling


@pytest.mark.parametrize("name", loader.SHIPPED)
def test_the_shipped_maps_fit_their_lists(name: str) -> None:
    words = loader.load(name)
    found = roles.of(words)
    assert found.by_word
    labels = {spelling.fold(label): words.groups[group] for label, group in words.labels.items()}
    for word, group in found.groups.items():
        assert labels.get(word, group) == group, word
    for label, other in found.prefer.items():
        assert not other or labels[label] != labels[spelling.fold(other)]


def test_a_label_goes_to_the_first_word_of_its_role() -> None:
    found = roles.of(loader.load("religion"))
    (role,) = found.by_word["rabbi"][:1]
    assert role.target("islam", 5) == "imam"
    assert role.target("nowhere", 0) is None


def test_a_label_may_have_no_counterpart(tmp_path: Path) -> None:
    path = tmp_path / "roles_x.yaml"
    path.write_text("prefer: {one: two, three: null}", encoding="utf-8")
    assert roles.read(path, ("a", "b")).prefer == {"one": "two", "three": ""}


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("roles: [", "not YAML"),
        ("- a", "a mapping with roles"),
        ("rolls: []", "unknown key rolls"),
        ("roles: [{role: x, part: noun}]", "an entry has the keys"),
        ("roles: [{role: x, part: noun, number: any, c: [z]}]", "no group 'c'"),
        ("roles: [{role: x, part: noun, number: any, a: z}]", "a list of words"),
        ("roles: [{role: x, part: noun, number: any, put in: {a: 1}}]", "put in: a: a word"),
        ("companions: [[one]]", "a word for each of a, b"),
        ("companions: [[one, two], [two, three]]", "two groups"),
    ],
)
def test_an_unusable_map_is_an_error_with_its_reason(tmp_path: Path, text: str, what: str) -> None:
    path = tmp_path / "roles_x.yaml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(roles.RoleMapError, match=what):
        roles.read(path, ("a", "b"))


EQUALS = [
    ("gender", "My dad sang", {"mom", "mum"}),
    ("gender", "Our grandpa sang", {"grandma", "granny"}),
    ("age", "The teenagers sang", {"retirees", "pensioners"}),
    ("age", "A pensioner sang", {"teenager", "adolescent"}),
    # A more particular word is not as good as the first
    ("religion", "Two Muslims sang", {"Christians"}),
]


@pytest.mark.parametrize(("attribute", "text", "words"), EQUALS)
def test_each_of_several_words_that_are_as_good_is_drawn(
    attribute: str, text: str, words: set[str]
) -> None:
    """The same one in every run and throughout a document, and in the end each of them."""
    lists = [loader.load(attribute)]
    substituter, finder = Substituter(lists, attribute, draws=True), LabelFinder(lists)
    target = {"gender": "female", "religion": "christianity"}.get(attribute)
    drawn: set[str] = set()
    for number in range(24):
        whole = f"{text} {number} times.\n\n{text} again."
        twice = [
            [
                edit.replacement
                for each in substituter.propose(whole, sentences(whole), finder.find(whole))
                for edit in each.edits[target or ("young" if "pens" in text else "old")]
                if len(edit.replacement) > 2  # no article
            ]
            for _ in range(2)
        ]
        assert twice[0] == twice[1] and len(set(twice[0])) == 1, whole
        drawn |= set(twice[0])
    assert drawn == words
