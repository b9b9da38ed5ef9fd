"""Plug-ins: what is refused, and with which words."""

from __future__ import annotations

import pickle
from pathlib import Path

import pytest

from evenflow.schemas.config import ConfigError, load
from evenflow.schemas.plugin_finder import PluginFinder, found_by
from evenflow.schemas.plugins import PluginError, PluginTextError

PARTS = {
    "nothing": "no installed package declares it among evenflow.attributes",
    "no.such.module:Part": "cannot be loaded: ModuleNotFoundError: No module named",
    "finders:Missing": "cannot be loaded: AttributeError",
    "finders:broken": "finders:broken cannot be loaded: OSError: no model here",
    "builtins:dict": "cannot be loaded",
    "finders:NoFind": "a method find(text) was expected",
    **{
        f"finders:{name}": "two names or more were expected"
        for name in ("OneGroup", "GroupsAsText", "TwiceAGroup", "OddName")
    },
}


@pytest.mark.parametrize(("name", "problem"), PARTS.items(), ids=list(PARTS))
def test_a_plug_in_that_cannot_be_used_is_named(name: str, problem: str) -> None:
    with pytest.raises(PluginError) as found:
        load(None, {"attributes.people.finder": name})
    assert name in str(found.value)
    assert problem in str(found.value)


MENTIONS = {
    "Backwards": "in order",
    "Overlaps": "without overlaps",
    "Outside": "within the text",
    "Empty": "a mention at [0:0]",
    "Halves": "a mention at [0.5:1]",
    "UnknownGroup": "none of she, he",
    "Pairs": "failed: ValueError",
    "Raises": "failed: LookupError",
}


@pytest.mark.parametrize(("name", "problem"), MENTIONS.items(), ids=list(MENTIONS))
def test_what_is_no_mention_is_refused_without_the_text(name: str, problem: str) -> None:
    with pytest.raises(PluginTextError) as found:
        PluginFinder(f"finders:{name}").find("she and he have a secret")
    assert f"'finders:{name}'" in str(found.value)
    assert problem in str(found.value)
    assert "secret" not in str(found.value)


def test_a_package_that_a_plug_in_lacks_is_no_fault_of_the_text() -> None:
    with pytest.raises(ModuleNotFoundError) as found:
        PluginFinder("finders:Lacking").find("she")
    assert found.value.name == "absent"


def test_the_list_of_a_plug_in_has_its_groups_as_labels() -> None:
    words = found_by("people", "finders:Sound")
    assert words.groups == ("she", "he")
    assert words.labels == {"she": 0, "he": 1}
    assert words.finder is not None
    assert words.finder.find("she and he") == [(0, 3, 0), (8, 10, 1)]
    assert words.finder.made_with.endswith(" model 1")
    copy = pickle.loads(pickle.dumps(words))
    assert copy.finder.find("she and he") == words.finder.find("she and he")


def test_a_digest_is_of_the_whole_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    digests = []
    for number, content in enumerate(("a", "b", "b")):
        package = tmp_path / f"package{number}"
        (package / "data").mkdir(parents=True)
        (package / "__init__.py").write_text("from finders import Sound\n")
        (package / "data" / "names.txt").write_text(content)
        digests.append(PluginFinder(f"package{number}:Sound").made_with)
    assert digests[0] != digests[1] == digests[2]


@pytest.mark.parametrize(
    ("settings", "problem"),
    [
        ({"attributes.people.wordlist": "gender"}, "finder: wordlist is given too"),
        ({"repair.mode": ["substitute"]}, "no words to put in their place"),
        ({"repair.mode": ["substitute"], "repair.method": "base"}, "no words to put in"),
        ({"measure.count": "people"}, "people are counted by the words"),
        (
            {"bias_score.mode": "measure", "bias_score.attribute": "people"},
            "no words whose vectors",
        ),
        ({"attributes.people.target": {"she": 0.5, "it": 0.5}}, "no group of plug-in finders"),
    ],
)
def test_what_needs_words_is_refused(settings: dict[str, object], problem: str) -> None:
    with pytest.raises(ConfigError, match=problem):
        load(None, {"attributes.people.finder": "finders:Sound", **settings})


@pytest.mark.parametrize(
    ("key", "name", "problem"),
    [
        ("repair.judge", "carefull", "careful or fast or a plug-in was expected"),
        ("repair.judge", "finders:Sound", "a method judge(text, exchanges) was expected"),
        ("stereotypes.detector", "none", "among evenflow.detectors"),
        ("stereotypes.detector", "finders:Judge", "a method detect(sentences, words) was expected"),
    ],
)
def test_a_judge_or_detector_that_cannot_be_used_is_named(
    key: str, name: str, problem: str
) -> None:
    with pytest.raises(ConfigError) as found:
        load(None, {key: name})
    assert key in str(found.value) and problem in str(found.value)
