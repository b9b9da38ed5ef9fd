"""The package as it is installed: from the wheel, without the checkout."""

from __future__ import annotations

import hashlib
import json
import runpy
import subprocess
import sys
import venv
import zipfile
from importlib.util import find_spec
from pathlib import Path

import pyarrow
import pytest
from parts import require
from places import ROOT

EPOCH = 1_700_000_000
TOPS = ("pipelines", "transforms", "gates", "schemas", "wordlists", "prompts")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Wheel and sdist."""
    if not find_spec("build"):
        require("the package `build` is missing: run `make install`")
    build = runpy.run_path(str(ROOT / "deploy" / "release.py"))["build"]
    return build(ROOT, tmp_path_factory.mktemp("built"), EPOCH)


def test_the_wheel_has_every_file_of_the_packages(built: tuple[Path, Path]) -> None:
    listed = subprocess.run(
        ["git", "ls-files", *TOPS], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.splitlines()
    with zipfile.ZipFile(built[0]) as wheel:
        names = {each for each in wheel.namelist() if ".dist-info/" not in each}
    assert len(listed) > 300
    assert names >= {f"evenflow/{each.removeprefix('pipelines/api/')}" for each in listed}


def test_an_installation_for_files_is_small() -> None:
    """`make size` prints the table; Beam, Great Expectations and pyarrow alone are 562 MB."""
    sizes_with = runpy.run_path(str(ROOT / "deploy" / "size.py"))["sizes_with"]
    plain, full = sizes_with(), sizes_with("kafka", "models", "stores")
    assert 300e6 < sum(plain.values()) <= 450e6
    assert {"onnxruntime", "kafka-python", "obstore"} <= full.keys() - plain.keys()


def test_two_builds_have_equal_digests(built: tuple[Path, Path], tmp_path: Path) -> None:
    build = runpy.run_path(str(ROOT / "deploy" / "release.py"))["build"]
    again = build(ROOT, tmp_path, EPOCH)
    digests = [[hashlib.sha256(file.read_bytes()).hexdigest() for file in both] for both in
               (built, again)]  # fmt: skip
    assert digests[0] == digests[1]


def test_the_wheel_repairs_and_judges_far_from_the_checkout(
    built: tuple[Path, Path], tmp_path: Path
) -> None:
    """The demo's command on a file of one's own, in an empty folder."""
    place = tmp_path / "environment"
    venv.create(place, symlinks=True)
    [packages] = place.glob("lib/python*/site-packages")
    python = place / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--no-deps"]
    subprocess.run([*install, "--no-index", "--quiet", built[0]], check=True, cwd=tmp_path)
    # The dependencies are those of the tests; a .pth there is not read, so neither is the checkout
    (packages / "shared.pth").write_text(f"{Path(pyarrow.__file__).parents[1]}\n")
    folder = tmp_path / "empty"
    folder.mkdir()
    texts = ("He met a doctor. He thanked him.", "The doctor said that he was late.", "She slept.")
    with (folder / "own.jsonl").open("w") as file:
        for number in range(60):
            file.write(json.dumps({"id": f"{number}", "text": texts[number % 3]}) + "\n")
    words = "run --input own.jsonl --output out --pane-docs 20 --warn 0.16 --block 0.19"
    repair = ["--set", "pane.rolling=6", "--repair-mode", "substitute,weight"]
    ended = subprocess.run(
        [place / "bin" / "evenflow", *words.split(), *repair],
        cwd=folder, capture_output=True, text=True,
    )  # fmt: skip
    assert ended.returncode in (0, 3) and "3 panes, 60 documents" in ended.stdout, ended.stderr
    entry = json.loads((folder / "out" / "ledger" / "00000000.json").read_text())
    assert entry["attributes"]["gender"]["repair"]["sets"] > 0 and entry["weights"]["documents"]
    assert "<table" in (folder / "out" / "report.html").read_text(encoding="utf-8")
    where = [python, "-c", "import evenflow; print(evenflow.__file__)"]
    told = subprocess.run(where, cwd=folder, capture_output=True, text=True, check=True).stdout
    assert Path(told.strip()).is_relative_to(place)
