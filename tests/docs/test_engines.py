"""The page on engines names tests that there are, and the versions that they run."""

from __future__ import annotations

import re
from importlib.metadata import version
from xml.etree import ElementTree

import pytest
from places import ROOT

PAGE = (ROOT / "docs/pages/engines.md").read_text(encoding="utf-8")


def versions(engine: str, start: str) -> set[str]:
    """The versions of the jars of an engine whose names begin so."""
    names = (ROOT / f"deploy/{engine}/SHA256SUMS").read_text(encoding="utf-8").split()
    return {match[1] for name in names if (match := re.fullmatch(rf"{start}-([\d.]+)\.jar", name))}


def test_each_test_is_there() -> None:
    names = re.findall(r"`(test_\w+\.py)`", PAGE)
    assert len(set(names)) > 4
    assert [name for name in names if not (ROOT / "tests/services" / name).exists()] == []


@pytest.mark.parametrize(
    ("engine", "core", "runner"),
    [
        ("Flink", "flink-runtime", r"beam-runners-flink-[\d.]+"),
        ("Spark", r"spark-core_[\d.]+", r"beam-runners-spark-3"),
    ],
)
def test_versions(engine: str, core: str, runner: str) -> None:
    [row] = {
        (match[1], match[2])
        for match in re.finditer(rf"{engine} ([\d.]+), Beam's runner ([\d.]+)", PAGE)
    }
    assert versions(engine.lower(), core) == {row[0]}
    assert versions(engine.lower(), runner) == {row[1]}
    assert f"Beam {version('apache-beam')} on all" in PAGE
    pom = ElementTree.parse(ROOT / f"deploy/{engine.lower()}/pom.xml").getroot()
    assert row[1] in {each.text for each in pom.iter() if each.tag.endswith("version")}
