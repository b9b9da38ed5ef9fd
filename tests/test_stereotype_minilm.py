"""The detector with embeddings: what it masks; and, on a small encoder made here, that it runs and says what is missing."""

from __future__ import annotations

import json
import math
import struct
from functools import partial
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenflow.pipelines.run import Run, RunError
from evenflow.schemas import config
from evenflow.transforms import stereotype_convert, stereotypes
from evenflow.transforms.stereotyping import stereotype_adapter, stereotype_minilm
from evenflow.transforms.stereotyping.stereotype_minilm import HEADS, WIDTH, Encoder, heads_of, load, masked

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


def small_adapter(path: Path) -> Path:
    """An adapter for the tiny encoder: of rank 2, with heads of three units."""
    rng = np.random.default_rng(2)
    tensors: dict[str, np.ndarray] = {}
    for layer in (f"encoder.layer.{number}" for number in range(2)):
        for part, out, width in (("attention.self", 3 * WIDTH, WIDTH), ("intermediate", 32, WIDTH), ("output", WIDTH, 32)):
            tensors[f"{layer}.{part}.down"] = rng.normal(0, 0.3, (2, width))
            tensors[f"{layer}.{part}.up"] = rng.normal(0, 0.3, (out, 2))
    tensors["inner.weight"] = rng.normal(0, 0.05, (HEADS * 3, WIDTH))
    tensors["inner.bias"], tensors["outer"] = rng.normal(size=HEADS * 3), rng.normal(size=(HEADS, 3))
    tensors["shift"], tensors["mix"] = np.zeros(HEADS), np.array([0.5, 0.5, 0.5, 0.0])
    stereotype_adapter.write(path, tensors, "a test")
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With a model, an adapter, the encoder with it (`out`) and without (`plain`)."""
    for name in ("onnx", "onnxruntime", "tokenizers"):
        pytest.importorskip(name)
    folder = tmp_path_factory.mktemp("minilm")
    model, adapter = tiny(folder / "model"), small_adapter(folder / "adapter.npz")
    stereotype_convert.convert(model, folder / "out", adapter)
    stereotype_convert.convert(model, folder / "plain", None)
    return folder


@pytest.fixture
def converted(folder: Path) -> Path:
    return folder / "out"


def by_numpy(weights: dict[str, np.ndarray], ids: list[int]) -> np.ndarray:
    """The encoder written out in numpy, for one sentence (Devlin et al., 2019): the embedding (WIDTH,)."""

    def linear(values: np.ndarray, name: str) -> np.ndarray:
        return values @ weights[f"{name}.weight"].T + weights[f"{name}.bias"]

    def norm(values: np.ndarray, name: str) -> np.ndarray:
        own = values - values.mean(-1, keepdims=True)
        own /= np.sqrt((own**2).mean(-1, keepdims=True) + 1e-12)
        return own * weights[f"{name}.weight"] + weights[f"{name}.bias"]

    def apart(values: np.ndarray) -> np.ndarray:
        return values.reshape(len(ids), 12, -1).transpose(1, 0, 2)

    table = weights["embeddings.position_embeddings.weight"][: len(ids)] + weights["embeddings.token_type_embeddings.weight"][0]
    state = norm(weights["embeddings.word_embeddings.weight"][ids] + table, "embeddings.LayerNorm")
    for layer in (f"encoder.layer.{number}" for number in range(2)):
        query, key, value = (apart(linear(state, f"{layer}.attention.self.{part}")) for part in ("query", "key", "value"))
        scores = np.exp(query @ key.transpose(0, 2, 1) / math.sqrt(WIDTH / 12))
        mixed = (scores / scores.sum(-1, keepdims=True) @ value).transpose(1, 0, 2).reshape(len(ids), WIDTH)
        state = norm(state + linear(mixed, f"{layer}.attention.output.dense"), f"{layer}.attention.output.LayerNorm")
        inner = linear(state, f"{layer}.intermediate.dense")
        inner = inner * (1 + np.vectorize(math.erf)(inner / math.sqrt(2))) / 2
        state = norm(state + linear(inner, f"{layer}.output.dense"), f"{layer}.output.LayerNorm")
    mean = state.mean(axis=0)
    return mean / np.sqrt((mean**2).sum())


def test_the_graph_is_the_encoder_with_the_adapter(folder: Path) -> None:
    weights = stereotype_convert.tensors(folder / "model" / "model.safetensors")
    adapter = stereotype_adapter.read(folder / "adapter.npz")
    sentence, ids = "person is bad good the", [4, 6, 8, 9, 10]
    adapted = by_numpy(stereotype_adapter.merged(weights, adapter), ids)
    assert Encoder(folder / "plain").embed([sentence])[0] @ by_numpy(weights, ids) > 0.99
    assert Encoder(folder / "out").embed([sentence])[0] @ adapted > 0.99
    assert by_numpy(weights, ids) @ adapted < 0.95


def test_another_encoder_is_refused(folder: Path) -> None:
    with pytest.raises(stereotypes.ModelError, match="another version; write it anew"):
        load(folder / "plain", model=folder / "adapter.npz")
    with pytest.raises(stereotypes.ModelError, match="another version; write it anew"):
        load(folder / "out")


def test_an_embedding_does_not_hang_on_its_batch(converted: Path) -> None:
    encoder = Encoder(converted)
    sentences = ["the person is good", "bad", "foreign are " * 300, "\ud800 good", "good bad"]
    together = encoder.embed(sentences)
    assert together.shape == (5, WIDTH) and np.allclose((together**2).sum(axis=1), 1, atol=1e-4)
    alone = np.concatenate([encoder.embed([sentence]) for sentence in sentences])
    assert np.array_equal(together, alone)
    assert (together[0] * together[1]).sum() < 0.999
    assert encoder.embed([]).shape == (0, WIDTH)


def test_it_detects(folder: Path) -> None:
    detector = load(folder / "out", model=folder / "adapter.npz")
    sentences = ["Women are bad.", "Men are bad.", "", "女性は運転が下手だ"]
    first, second, third, fourth = detector.detect(sentences, [[], [], [], []])
    assert first == pytest.approx(second, abs=1e-3) and 0 <= (first or -1) <= 1
    assert third is fourth is None
    assert all(each is None or -1 <= each <= 1 for each in detector.strengths(sentences, [[], [], [], []]))


def test_a_run_looks_with_the_encoder(folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stereotype_minilm, "load", partial(load, model=folder / "adapter.npz"))
    lines = [{"id": str(i), "text": f"Women are {word} and bad. A man is foreign."} for i, word in enumerate(WORDS)]
    source = tmp_path / "in.jsonl"
    source.write_text("\n".join(map(json.dumps, lines)))
    chances: list[list[float]] = []
    for name, pane in (("one", 4), ("two", 11)):
        given = {"stereotypes.policy": "flag", "stereotypes.encoder": str(folder / "out"), "pane.docs": pane}
        Run([str(source)], tmp_path / name, config.load(None, given)).go()
        tables = [pq.read_table(path) for path in sorted((tmp_path / name / "sentences").rglob("*.parquet"))]
        rows = [row for table in tables for row in table.to_pylist()]
        chances.append([row["potential_stereotype"] for row in rows])
    assert chances[0] == chances[1] and len(set(chances[0])) > 2
    with pytest.raises(RunError, match=r"encoder: '[0-9a-f]{64}' -> '[0-9a-f]{64}'"):
        other = {"stereotypes.policy": "flag", "stereotypes.encoder": str(folder / "plain"), "pane.docs": 4}
        Run([str(source)], tmp_path / "one", config.load(None, other)).go()


def test_an_encoder_that_is_not_there(tmp_path: Path) -> None:
    given = {"stereotypes.policy": "flag", "stereotypes.encoder": str(tmp_path / "nowhere")}
    (tmp_path / "in.jsonl").write_text('{"id": "1", "text": "Women are bad."}')
    with pytest.raises(stereotypes.ModelError, match=r"nowhere/encoder.onnx: missing; .*stereotype_convert"):
        Run([str(tmp_path / "in.jsonl")], tmp_path / "out", config.load(None, given)).go()


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


def test_heads() -> None:
    tensors = {
        "inner.weight": np.zeros((HEADS * 2, WIDTH)),
        "inner.bias": np.array([1.0, -1.0, 2.0, 0.0, 0.5, 0.5]),
        "outer": np.array([[1.0, 9.0], [1.0, 9.0], [2.0, 2.0]]),
        "shift": np.array([0.5, 0.0, -2.0]),
        "mix": np.array([0.5, 1.0, 2.0, -2.0]),
    }
    heads = heads_of(stereotype_adapter.Adapter({name: each.astype(np.float32) for name, each in tensors.items()}, ""))
    embedding = np.ones((1, WIDTH), np.float32)
    assert heads(embedding).tolist() == [[1.5, 2.0, 0.0]]  # relu of the biases, times outer, and shift
    assert heads.strength(embedding).tolist() == [1.5]
    assert heads.probability(embedding, np.array([0.5])).tolist() == [0.5]  # logit 0.5 * 2 + 1 * 0 + 2 * 0.5 - 2
