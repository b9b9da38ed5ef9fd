"""Shipped files without a manifest are read only as they were shipped."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

from evenflow.transforms.labels import register
from evenflow.transforms.measures.bias_score import importance, words
from evenflow.transforms.text import names, nouns, pronoun_model, sentences
from evenflow.transforms.text import shipped as files

READERS = [
    (importance, "COUNTS_PATH", importance.shipped_weights),
    (words, "GENDER_PATH", words.gender_words),
    (names, "PAIRS_PATH", names.counterparts),
    (names, "NAMES_PATH", names.first_names),
    (nouns, "PATH", nouns.shipped),
    (pronoun_model, "MODEL_PATH", pronoun_model.shipped),
    (register, "PATH", register.shipped),
    (sentences, "MODEL_PATH", sentences._model),  # pyright: ignore[reportPrivateUsage]
]


def test_the_digests_are_those_of_the_files() -> None:
    known = json.loads(files.DIGESTS.read_text())
    found = {name: hashlib.sha256((files.ROOM / name).read_bytes()).hexdigest() for name in known}
    assert found == known
    assert {getattr(module, name) for module, name, _ in READERS} == {
        Path(files.ROOM / name) for name in known
    }


@pytest.mark.parametrize(("module", "name", "read"), READERS)
@pytest.mark.parametrize("damage", ["changed", "short", "gone"])
def test_a_damaged_file_is_named_with_digest_and_remedy(
    module, name: str, read, damage: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = getattr(module, name)
    copy = tmp_path / path.relative_to(files.ROOM)
    copy.parent.mkdir(parents=True)
    if damage != "gone":
        data = path.read_bytes()
        copy.write_bytes(data[:100] if damage == "short" else data[:-3] + b"xyz")
    monkeypatch.setattr(files, "ROOM", tmp_path)
    monkeypatch.setattr(module, name, copy)
    with pytest.raises(files.ModelError, match="install the package again") as error:
        read.__wrapped__()
    assert copy.name in str(error.value) and (damage == "gone" or "SHA-256" in str(error.value))
