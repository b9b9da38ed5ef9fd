"""Files of word vectors: forms, and what is wrong with them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from evenflow.transforms.measures.bias_score import vectors
from evenflow.transforms.measures.bias_score.vectors import VectorsError

WORDS = {"she": (1.0, 0.0, 0.0), "he": (-1.0, 0.0, 0.5), "Ärztin": (0.25, 2.0, 0.0)}


def text(words: dict[str, tuple[float, ...]]) -> bytes:
    lines = (" ".join([word, *map(str, numbers)]) for word, numbers in words.items())
    return "".join(f"{line}\n" for line in lines).encode()


def binary(words: dict[str, tuple[float, ...]], after: bytes = b"") -> bytes:
    size = len(next(iter(words.values())))
    return f"{len(words)} {size}\n".encode() + b"".join(
        word.encode() + b" " + struct.pack(f"<{len(numbers)}f", *numbers) + after
        for word, numbers in words.items()
    )


FORMS: dict[str, Callable[[], bytes]] = {
    "glove": lambda: text(WORDS),
    "word2vec text": lambda: b"3 3\n" + text(WORDS),
    "without a last line break": lambda: text(WORDS).rstrip(),
    "word2vec binary": lambda: binary(WORDS),
    "word2vec binary with line breaks": lambda: binary(WORDS, after=b"\n"),
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("chunk", [1 << 20, 5])
def test_all_forms_hold_the_same(
    form: str, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vectors, "CHUNK", chunk)
    monkeypatch.setattr(vectors, "BLOCK", 2)
    path = tmp_path / "vectors"
    path.write_bytes(FORMS[form]())
    found = vectors.load(path)
    assert list(found.words) == list(WORDS)
    assert found.size == 3
    expected = np.array(list(WORDS.values()))
    expected /= np.linalg.norm(expected, axis=1, keepdims=True)
    np.testing.assert_allclose(np.concatenate(list(found.blocks())), expected, atol=1e-7)
    np.testing.assert_allclose(found.unit(["Ärztin", "she"]), expected[[2, 0]], atol=1e-7)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "a word and its numbers"),
        (b"she 1 2\nhe 1\n", "vector 2 has 1 numbers; 2 were expected"),
        (b"she 1 2\nhe 1 2 3\n", "vector 2 has 3 numbers; 2 were expected"),
        (b"she 1 2\nhe 1 x\n", "cannot be read as numbers"),
        (b"she 1 2\nhe nan 2\n", "vector 2 has a number that is not finite"),
        (b"she 1 2\nhe 1 inf\n", "vector 2 has a number that is not finite"),
        (b"she 1 2\nshe 1 3\n", "'she' has two vectors"),
        (b"3 2\nshe 1 2\nhe 1 3\n", "its header says 3 words, it has 2"),
        (b"0 2\n", "its header says 0 words"),
        (binary(WORDS)[:-1], "word 3 of 3 cannot be found"),
        (binary(WORDS) + b"more", "something follows word 3"),
        (b"3 2" + binary(WORDS)[3:], "something follows word 3|cannot be found|two vectors"),
        (binary({"she": (1.0, float("nan"))}), "not finite"),
        (vectors.FASTTEXT_BINARY + b"\0\0", "give its .vec file"),
    ],
)
def test_what_is_wrong_is_said(content: bytes, message: str, tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(content)
    with pytest.raises(VectorsError, match=message):
        list(vectors.load(path).blocks())


def test_a_word_of_glove_may_hold_blanks(tmp_path: Path) -> None:
    path = tmp_path / "vectors"
    path.write_bytes(b"she 1 2\n. . . 3 4\n")
    found = vectors.load(path)
    assert list(found.words) == ["she", ". . ."]
    np.testing.assert_allclose(found.unit([". . ."]), [[0.6, 0.8]], atol=1e-7)


def test_the_digest_is_of_the_content(tmp_path: Path) -> None:
    paths = [tmp_path / name for name in "abc"]
    for path, content in zip(
        paths, (text(WORDS), text(WORDS), b"3 3\n" + text(WORDS)), strict=True
    ):
        path.write_bytes(content)
    first, same, other = (vectors.load(path).digest for path in paths)
    assert first == same != other


def test_the_shipped_vectors_hold_gendered_words() -> None:
    found = vectors.load(None)
    assert {"she", "he", "nurse"} <= found.words.keys()
    assert np.isfinite(np.concatenate(list(found.blocks()))).all()
