"""What a release consists of: the files, the changelog, and the workflow that publishes them."""

from __future__ import annotations

import re
import runpy
import tarfile
from pathlib import Path
from typing import Any

import pytest
import yaml
from places import ROOT

RELEASE = runpy.run_path(str(ROOT / "deploy" / "release.py"))
EPOCH = 1_700_000_000


def packed(folder: Path, order: list[str], time: int) -> Path:
    """An archive of files in some order, with their own times."""
    path = folder / "source.tar.gz"
    with tarfile.open(path, "w:gz") as archive:
        for name in order:
            (folder / name).write_text(name)
            member = archive.gettarinfo(folder / name, f"evenflow/{name}")
            member.mtime, member.uname = time, "somebody"
            with (folder / name).open("rb") as file:
                archive.addfile(member, file)
    return path


def test_an_archive_has_the_same_bytes_whatever_order_and_time_its_files_had(
    tmp_path: Path,
) -> None:
    for index, (order, time) in enumerate(((["a", "b"], 1), (["b", "a"], 2))):
        source = packed(tmp_path, order, time)
        RELEASE["_repack"](source, tmp_path / f"{index}.tar.gz", EPOCH)
    assert (tmp_path / "0.tar.gz").read_bytes() == (tmp_path / "1.tar.gz").read_bytes()
    with tarfile.open(tmp_path / "0.tar.gz") as archive:
        found = [(each.name, each.mtime, each.uname) for each in archive]
        assert found == [("evenflow/a", EPOCH, ""), ("evenflow/b", EPOCH, "")]
        assert archive.extractfile("evenflow/a").read() == b"a"  # pyright: ignore[reportOptionalMemberAccess]


OLD = "# Changelog\n\n## 0.1.0, 2026-01-01\n\n- first\n"
WAITING = OLD.replace("## 0.1.0", "## 0.2.0, not released yet\n\n- written here\n\n## 0.1.0")


@pytest.mark.parametrize(
    ("text", "version", "section"),
    [(OLD, "0.2.0", "- new\n- newer\n"), (WAITING, "0.2.0", "- new\n- newer\n- written here\n")],
)
def test_fragments_become_a_section_of_their_version(text: str, version: str, section: str) -> None:
    made = RELEASE["with_fragments"](text, ["- new\n", "- newer\n"], version, "2026-02-02")
    assert made.startswith(f"# Changelog\n\n## {version}, 2026-02-02\n\n")
    assert RELEASE["section"](made, version) == section
    assert RELEASE["section"](made, "0.1.0") == "- first\n"


def test_the_changelog_has_a_section_of_the_version_of_setup() -> None:
    [version] = re.findall(
        r'^    version="(.+)",$', (ROOT / "setup.py").read_text(encoding="utf-8"), re.MULTILINE
    )
    text = (ROOT / "docs" / "pages" / "changelog.md").read_text(encoding="utf-8")
    assert RELEASE["section"](text, version).startswith("- ")


def test_a_version_without_a_section_is_refused() -> None:
    with pytest.raises(ValueError, match=r"no section «## 9\.9, …»"):
        RELEASE["section"](OLD, "9.9")


def test_fragments_are_lists() -> None:
    for path in (ROOT / "docs" / "changes").glob("*.md"):
        assert path.read_text(encoding="utf-8").startswith("- "), path


@pytest.fixture(scope="module")
def workflow() -> dict[str, Any]:
    """The workflow that publishes. YAML 1.1 reads the key `on` as true."""
    path = ROOT / ".github" / "workflows" / "release.yml"
    return yaml.safe_load(path.read_text(encoding="utf-8"))


def test_only_the_job_that_publishes_may_prove_who_it_is(workflow: dict[str, Any]) -> None:
    assert workflow["permissions"] == {} and workflow[True] == {"push": {"tags": ["v*"]}}
    jobs = workflow["jobs"]
    assert jobs["build"]["permissions"] == {"contents": "read"}
    publish = jobs["publish"]
    assert publish["permissions"] == {"id-token": "write", "attestations": "write"}
    assert publish["needs"] == "build" and publish["environment"] == "release"
    steps = {each["uses"].partition("@")[0]: each for each in publish["steps"] if "uses" in each}
    assert "actions/checkout" not in steps  # no code of the repository runs with these rights
    upload = steps["pypa/gh-action-pypi-publish"]["with"]
    assert upload == {"packages-dir": "dist/", "attestations": True}  # no password, no token


def test_the_workflow_runs_targets_that_there_are(workflow: dict[str, Any]) -> None:
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    assert all("@" in step["uses"] for step in steps if "uses" in step)
    targets = re.findall(r"\bmake ([a-z]+)", " ".join(step.get("run", "") for step in steps))
    makefile = (ROOT / "deploy" / "release.mk").read_text(encoding="utf-8")
    assert targets == ["release"] and re.search(r"^release:", makefile, re.MULTILINE)
    told = [step["with"]["name"] for step in steps if "artifact" in step.get("uses", "")]
    assert told == ["release", "release"]
