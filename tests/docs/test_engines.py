"""The page on clusters names tests that there are, and the versions that they run."""

from __future__ import annotations

import re
from importlib.metadata import version
from xml.etree import ElementTree

from places import ROOT

PAGE = (ROOT / "docs/pages/clusters.md").read_text(encoding="utf-8")


def versions(start: str) -> set[str]:
    """The versions of Flink's jars whose names begin so."""
    names = (ROOT / "deploy/flink/SHA256SUMS").read_text(encoding="utf-8").split()
    return {match[1] for name in names if (match := re.fullmatch(rf"{start}-([\d.]+)\.jar", name))}


def test_each_test_is_there() -> None:
    names = re.findall(r"`(test_\w+\.py)`", PAGE)
    assert len(set(names)) > 4
    assert [name for name in names if not (ROOT / "tests/services" / name).exists()] == []


def test_versions() -> None:
    [row] = {
        (match[1], match[2])
        for match in re.finditer(r"Flink ([\d.]+), Beam's runner ([\d.]+)", PAGE)
    }
    assert versions("flink-runtime") == {row[0]}
    assert versions(r"beam-runners-flink-[\d.]+") == {row[1]}
    assert f"Beam {version('apache-beam')} on all" in PAGE
    pom = ElementTree.parse(ROOT / "deploy/flink/pom.xml").getroot()
    assert row[1] in {each.text for each in pom.iter() if each.tag.endswith("version")}
