"""Model files: the message about one that is missing, cut short, or another's."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from evenflow.transforms.models import encoder, files, static
from evenflow.transforms.models.encoder import Encoder
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.models.static import FirstStage


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(files.SHIPPED, tmp_path / "shipped"))


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def foreign(path: Path) -> None:
    path.write_bytes(b"another model")


@pytest.mark.parametrize("model", [Encoder, FirstStage])
@pytest.mark.parametrize("spoil", [Path.unlink, cut, foreign])
def test_every_file_must_be_there_and_whole(
    model: type, spoil: Callable[[Path], None], folder: Path
) -> None:
    names = {
        Encoder: (encoder.MANIFEST, encoder.GRAPH, encoder.VOCABULARY),
        FirstStage: (static.MANIFEST, static.TENSORS, static.WORDS),
    }[model]
    for name in names:
        kept = (folder / name).read_bytes()
        spoil(folder / name)
        with pytest.raises(ModelError) as caught:
            model(folder)
        assert str(folder / name) in str(caught.value)
        assert "install the package again" in str(caught.value)
        (folder / name).write_bytes(kept)
    model(folder)


@pytest.mark.parametrize(
    "content", ["[]", "{}", '{"format": "evenflow-first-stage", "version": 1, "files": {}}', "\x00"]
)
def test_a_manifest_must_say_that_it_is_one(content: str, folder: Path) -> None:
    (folder / encoder.MANIFEST).write_text(content)
    with pytest.raises(ModelError, match=r"encoder\.json"):
        Encoder(folder)


def test_a_manifest_without_a_part_cannot_be_used(folder: Path) -> None:
    path = folder / encoder.MANIFEST
    read = json.loads(path.read_text())
    del read["choices"]
    path.write_text(json.dumps(read))
    with pytest.raises(ModelError, match="choices"):
        Encoder(folder)


def test_a_manifest_names_no_file_outside_of_its_folder(folder: Path) -> None:
    path = folder / encoder.MANIFEST
    read = json.loads(path.read_text())
    read["files"]["../../etc/passwd"] = "0"
    path.write_text(json.dumps(read))
    with pytest.raises(ModelError, match=str(folder / "passwd")):
        Encoder(folder)
