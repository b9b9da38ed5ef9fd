"""The detector with embeddings: what it masks; and, on a small encoder made here, that it runs and says what is missing."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.transforms import stereotype_convert, stereotypes
from evenflow.transforms.stereotype_minilm import WIDTH, Encoder, Heads, heads_of, load, masked

NO_LETTERS = dict.fromkeys(map(ord, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"), ".")
WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "person", "foreign", "is", "are", "bad", "good", "the")


@pytest.mark.parametrize(
    ("sentence", "labels", "expected"),
    [
        ("The black man is tall.", (), "The foreign is tall."),
        ("Women are late", (), "person are late"),
        ("A nurse from Norway prays", (), "A worker from country prays"),
        ("Muslims, Jews and Hindus.", (), "religious, religious and religious."),
        ("The church mice sing", ((4, 15, "gender"),), "The person sing"),
        ("She is here", (), "they is here"),
        ("His wife met him", ((0, 3, "gender"), (4, 8, "gender")), "they person met they"),
        ("no group", (), "no group"),
        ("", (), ""),
    ],
)
def test_masked(sentence: str, labels: tuple[tuple[int, int, str], ...], expected: str) -> None:
    assert masked(sentence, labels) == expected


@given(st.text())
def test_a_text_without_letters_stays(text: str) -> None:
    assert masked(text.translate(NO_LETTERS)) == text.translate(NO_LETTERS)


def tiny(folder: Path) -> Path:
    """A model folder with random weights: two layers, of MiniLM's width, for eleven words."""
    rng = np.random.default_rng(1)
    tensors: dict[str, np.ndarray] = {}

    def tensor(name: str, *shape: int) -> None:
        tensors[name] = rng.normal(0, 0.05, shape).astype(np.float32)

    tensor("embeddings.word_embeddings.weight", len(WORDS), WIDTH)
    tensor("embeddings.position_embeddings.weight", 128, WIDTH)
    tensor("embeddings.token_type_embeddings.weight", 2, WIDTH)
    norms = ["embeddings.LayerNorm"]
    for layer in (f"encoder.layer.{number}" for number in range(2)):
        for part in ("self.query", "self.key", "self.value", "output.dense"):
            tensor(f"{layer}.attention.{part}.weight", WIDTH, WIDTH)
            tensor(f"{layer}.attention.{part}.bias", WIDTH)
        tensor(f"{layer}.intermediate.dense.weight", 32, WIDTH)
        tensor(f"{layer}.intermediate.dense.bias", 32)
        tensor(f"{layer}.output.dense.weight", WIDTH, 32)
        tensor(f"{layer}.output.dense.bias", WIDTH)
        norms += [f"{layer}.attention.output.LayerNorm", f"{layer}.output.LayerNorm"]
    for name in norms:
        tensors[f"{name}.weight"], tensors[f"{name}.bias"] = np.ones(WIDTH, np.float32), np.zeros(WIDTH, np.float32)
    header, body = {}, b""
    for name, each in tensors.items():
        header[name] = {"dtype": "F32", "shape": each.shape, "data_offsets": [len(body), len(body) + each.nbytes]}
        body += each.tobytes()
    text = json.dumps(header).encode()
    folder.mkdir()
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + body)
    config = {"num_attention_heads": 12, "hidden_size": WIDTH, "layer_norm_eps": 1e-12, "num_hidden_layers": 2}
    (folder / "config.json").write_text(json.dumps(config))
    vocabulary = {word: number for number, word in enumerate(WORDS)}
    model = {"type": "WordLevel", "vocab": vocabulary, "unk_token": "[UNK]"}
    lower, split = {"type": "Lowercase"}, {"type": "Whitespace"}
    (folder / "tokenizer.json").write_text(
        json.dumps({"version": "1.0", "added_tokens": [], "normalizer": lower, "pre_tokenizer": split, "model": model})
    )
    return folder


@pytest.fixture(scope="module")
def converted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    for name in ("onnx", "onnxruntime", "tokenizers"):
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("minilm")
    stereotype_convert.convert(tiny(folder / "model"), folder / "out")
    return folder / "out"


def test_an_embedding_does_not_hang_on_its_batch(converted: Path) -> None:
    encoder = Encoder(converted)
    sentences = ["the person is good", "bad", "foreign are " * 300, "\ud800 good", "good bad"]
    together = encoder.embed(sentences)
    assert together.shape == (5, WIDTH) and np.allclose((together**2).sum(axis=1), 1, atol=1e-4)
    alone = np.concatenate([encoder.embed([sentence]) for sentence in sentences])
    assert (together * alone).sum(axis=1).min() > 0.98  # 8-bit activations are scaled a batch
    assert (together[0] * together[1]).sum() < 0.999
    assert encoder.embed([]).shape == (0, WIDTH)


def test_it_detects(converted: Path) -> None:
    detector = load(converted)
    sentences = ["Women are bad.", "Men are bad.", "", "女性は運転が下手だ"]
    first, second, third, fourth = detector.detect(sentences, [[], [], [], []])
    assert first == pytest.approx(second, abs=1e-3) and 0 <= (first or -1) <= 1
    assert third is fourth is None
    assert all(each is None or -1 <= each <= 1 for each in detector.strengths(sentences, [[], [], [], []]))


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    pytest.importorskip("onnxruntime")
    pytest.importorskip("tokenizers")
    with pytest.raises(stereotypes.ModelError, match=r"encoder.onnx: missing; .*stereotype_convert"):
        load(tmp_path)
    for name in ("encoder.onnx", "tokenizer.json"):
        (tmp_path / name).write_bytes(b"no model")
    with pytest.raises(stereotypes.ModelError, match="not a model that can be read"):
        load(tmp_path)
    with pytest.raises(stereotypes.ModelError, match="reinstall"):
        load(tmp_path, model=tmp_path / "none.json")


def test_without_the_packages(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "onnxruntime", None)
    with pytest.raises(stereotypes.ModelError, match="pip install"):
        Encoder(tmp_path)


def test_heads_come_back() -> None:
    rng = np.random.default_rng(0)
    layer = [rng.normal(size=(5, 3)).astype(np.float16).astype(np.float32), np.ones((3, 1), np.float32)]
    vectors = rng.integers(-127, 127, (4, WIDTH), np.int8)
    heads = Heads(vectors, np.ones(4, np.float32), 0.5, 2.0, layer, [np.zeros(3, np.float32), np.ones(1, np.float32)])
    again = heads_of(json.loads(json.dumps(heads.to_json())))
    assert (again.bias, again.gamma) == (0.5, 2.0) and np.array_equal(again.support, vectors)
    assert all(np.array_equal(one, other) for one, other in zip(again.weights + again.biases, layer + heads.biases, strict=True))
