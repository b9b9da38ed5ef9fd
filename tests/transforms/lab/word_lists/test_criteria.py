"""Words that a list should not have, or not as they are written."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenflow.transforms.lab.word_lists import criteria
from evenflow.transforms.lab.word_lists.complete import missing_numbers
from evenflow.wordlists import loader
from evenflow.wordlists.loader import WordList


def _list(folder: Path, *labels: str) -> WordList:
    path = folder / "own.yaml"
    path.write_text(f"attribute: own\ngroups: {{a: [{', '.join(labels)}], b: [zebra]}}\n")
    return loader.load(str(path))


def test_labels_in_capitals_that_are_words_too(tmp_path: Path) -> None:
    words = _list(tmp_path, "{label: US, case: any}", "UN", "Polish", "us-born")
    assert criteria.common_words(words) == {"US": "us", "Polish": "polish"}


@pytest.mark.parametrize("name", sorted(loader.NAMED))
def test_no_list_that_is_shipped_is_warned_of(name: str) -> None:
    assert criteria.common_words(loader.load(name)) == {}


def test_stop_words_name_nobody_and_pronouns_of_a_group_do() -> None:
    assert [
        each for each in ("the", "Us", "often", "she", "his", "nurse") if criteria.is_stop(each)
    ] == ["the", "Us", "often"]


def test_an_abbreviation_has_no_plural(tmp_path: Path) -> None:
    found = {each.word for each in missing_numbers(_list(tmp_path, "US", "UK", "nurse"))}
    assert found == {"nurses", "zebras"}


def test_a_script_with_particles_is_refused(tmp_path: Path) -> None:
    with pytest.raises(loader.WordListError, match="it would count nothing"):
        _list(tmp_path, "여자")


@pytest.mark.parametrize("label", ["女性", "おんな", "カタカナ", "ผู้หญิง"])
def test_labels_without_blanks_are_found_as_the_longest(tmp_path: Path, label: str) -> None:
    words = _list(tmp_path, label)
    number = list(words.labels).index(label)
    assert words.finder is not None
    assert words.finder.find(f"x{label}、") == [(1, 1 + len(label), number)]


@pytest.mark.parametrize("label", ["женщина", "γυναίκα", "امرأة", "अमीर", "Ärztin"])
def test_other_scripts_are_not(tmp_path: Path, label: str) -> None:
    assert label in _list(tmp_path, label).labels
