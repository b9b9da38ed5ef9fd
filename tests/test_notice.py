"""NOTICE names every file of the package that is no code, with its licence, as the wheel does."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from pathlib import Path
from typing import Any

import pytest
import yaml
from places import ROOT
from what_setup_says import told

ENTRY = re.compile(r"^- (.+?)\[([\w.-]+)\]", re.MULTILINE | re.DOTALL)
FILES = re.compile(r"[a-z]+/[\w.*/-]*[\w*]")
HEADS = ("IN THE PACKAGE", "IN THE REPOSITORY ALONE", "LICENCES")
WRITTEN = {"CC BY-SA 4.0": "CC-BY-SA-4.0", "CC0": "CC0-1.0"}  # as the lists of words say it


@pytest.fixture(scope="module")
def setup() -> dict[str, Any]:
    """What setup.py tells setuptools."""
    return told()


@pytest.fixture(scope="module")
def carried(setup: dict[str, Any]) -> set[str]:
    """The files of the package that are no code."""
    return {
        path.relative_to(ROOT).as_posix()
        for folder in setup["package_dir"].values()
        for pattern in setup["package_data"][""]
        for path in (ROOT / folder).glob(pattern)
        if path.is_file() and path.stat().st_size  # py.typed is a mark
    }


def sections() -> list[str]:
    text = (ROOT / "NOTICE").read_text(encoding="utf-8")
    return re.split("^(?:" + "|".join(HEADS) + ")$", text, flags=re.MULTILINE)


def licences() -> dict[str, str]:
    """By pattern of files the licence."""
    return {
        pattern: licence
        for entry, licence in ENTRY.findall(sections()[1])
        for pattern in FILES.findall(re.split(r":\s", entry)[0])
    }


def test_every_file_is_named_once_and_every_name_is_of_a_file(carried: set[str]) -> None:
    named = licences()
    for path in sorted(carried):
        assert len([pattern for pattern in named if fnmatch(path, pattern)]) == 1, path
    rooms = {pattern for pattern in named if pattern.endswith("/**")}
    for pattern in sorted(set(named) - rooms):
        assert any(fnmatch(path, pattern) for path in carried), pattern
    assert not [each for each in rooms if each.startswith(("transforms/", "wordlists/"))]


def test_the_package_says_the_licences_that_notice_has(setup: dict[str, Any]) -> None:
    ids = sorted(set(licences().values()))
    assert setup["license_expression"] == " AND ".join(ids)
    assert "NOTICE" in setup["license_files"] and "LICENSE" in setup["license_files"]
    for licence in ids:
        assert re.search(f"^{re.escape(licence)}: ", sections()[3], re.MULTILINE), licence


def test_what_is_under_mit_has_its_copyright() -> None:
    entries = [entry for entry, licence in ENTRY.findall(sections()[1]) if licence == "MIT"]
    assert entries
    for entry in entries:
        (name,) = re.findall(r"HellaSwag|RedditBias|HONEST", entry)
        assert re.search(rf"^Copyright \(c\) \d+,? .+ \({name}\)$", sections()[3], re.MULTILINE)
    assert "Permission is hereby granted, free of charge" in sections()[3]


@pytest.mark.parametrize("path", sorted(ROOT.glob("wordlists/*.yaml")), ids=lambda path: path.stem)
def test_a_list_of_words_says_the_same(path: Path) -> None:
    said = yaml.safe_load(path.read_text(encoding="utf-8")).get("licence", "")
    (own,) = [
        licence
        for pattern, licence in licences().items()
        if fnmatch(path.relative_to(ROOT).as_posix(), pattern)
    ]
    if own.startswith("CC") or said in WRITTEN:
        assert WRITTEN[said] == own
    assert ("Open Government" in said) == (own == "OGL-UK-3.0")


def test_the_encoder_is_named() -> None:
    assert "all-MiniLM-L6-v2" in sections()[1]
