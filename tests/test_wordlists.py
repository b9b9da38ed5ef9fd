from pathlib import Path

import pytest

from evenflow.wordlists.loader import SHIPPED, WordListError, load


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_lists_are_sound(name: str) -> None:
    words = load(name)
    assert words.attribute == name and words.source and words.licence


def test_sizes_of_the_shipped_lists() -> None:
    pairs = [
        line for line in (Path(__file__).parents[1] / "wordlists" / "gender.yaml").read_text().splitlines() if "  - [" in line
    ]
    assert len(pairs) == 142
    assert load("age").groups == ("young", "middle", "old")
    assert len(load("religion").groups) == 5


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("groups: {a: [x, y], b: [y]}", ":2: y: in two groups, a (line 2) and b"),
        ("groups: {a: [x], b: []}", ":2: b: an empty group"),
        ("groups: {a: [x, X], b: [y]}", ":2: X: differs from 'x' (line 2) in case alone"),
        ("groups: [a, b]\npairs: [[x]]", "odd counterparts"),
        ("groups: {a: [x, 3], b: [y]}", "a label must be text"),
        ("groups: {a: [x]}", "two groups or more"),
        ("groups: {a: [x], b: [y]}\ngroup: 3", "unknown key"),
    ],
)
def test_defects_are_named(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "list.yaml"
    path.write_text("attribute: t\n" + text)
    with pytest.raises(WordListError) as error:
        load(path)
    assert str(path) in str(error.value) and message in str(error.value)
