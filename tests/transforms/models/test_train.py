"""Training: how figures are computed, and a tiny model (needs torch)."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from parts import needs_training

needs_training("torch", "transformers", "onnx", "onnxscript", "sklearn")

from evenflow.pipelines.lab.train import reader as reader_command  # noqa: E402
from evenflow.transforms.lab.training import distil, export, head  # noqa: E402
from evenflow.transforms.models import files, reader, static  # noqa: E402
from evenflow.transforms.models.encoder import WIDTH  # noqa: E402
from evenflow.transforms.models.passages import Place  # noqa: E402
from evenflow.transforms.models.reader import Reader  # noqa: E402
from evenflow.transforms.models.static import FirstStage  # noqa: E402

PIECES = (
    *("[PAD]", "[UNK]", "[CLS]", "[SEP]", *"[]|.", "a", "he", "she", "man", "woman", "smiled"),
    *("gave", "birth", "folks", "are", "lazy", "kind"),
    *(f"[unused{number}]" for number in range(90)),  # passages begin with the pieces 101 and 102
)
RIGHT, WRONG = "A [man|woman] smiled.", "[She|He] gave birth."


def write(path: Path, rows: list[dict[str, object]]) -> None:
    with gzip.open(path, "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps(each) + "\n" for each in rows)


@pytest.fixture
def pretrained(tmp_path: Path) -> Path:
    """A folder as the package of all-MiniLM-L6-v2 has it: one layer with random weights."""
    rng = np.random.default_rng(0)
    wide, within = WIDTH, 4 * WIDTH
    shapes = {
        "embeddings.word_embeddings.weight": (len(PIECES), wide),
        "embeddings.position_embeddings.weight": (512, wide),
        "embeddings.token_type_embeddings.weight": (2, wide),
    }
    layer = "encoder.layer.0."
    for part in ("self.query", "self.key", "self.value", "output.dense"):
        shapes[f"{layer}attention.{part}.weight"], shapes[f"{layer}attention.{part}.bias"] = (
            (wide, wide),
            (wide,),
        )
    for part, shape in (("intermediate.dense", (within, wide)), ("output.dense", (wide, within))):
        shapes[f"{layer}{part}.weight"], shapes[f"{layer}{part}.bias"] = shape, shape[:1]
    for part in ("embeddings", f"{layer}attention.output", f"{layer}output"):
        part += ".LayerNorm"
        shapes[f"{part}.weight"] = shapes[f"{part}.bias"] = (wide,)
    header, blobs, at = {}, [], 0
    for name, shape in shapes.items():
        values = np.ones(shape) if "LayerNorm.weight" in name else rng.normal(0, 0.05, shape)
        blobs.append(values.astype("<f4").tobytes())
        offsets = [at, at := at + len(blobs[-1])]
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": offsets}
    head = json.dumps(header).encode()
    folder = tmp_path / "pretrained"
    folder.mkdir()
    blobs = [struct.pack("<Q", len(head)), head, *blobs]
    (folder / "model.safetensors").write_bytes(b"".join(blobs))
    (folder / "vocab.txt").write_text("\n".join(PIECES) + "\n")
    return folder


def document(number: int) -> dict[str, object]:
    right = number % 2 == 0
    text = "A man smiled. He smiled." if right else "She gave birth. She smiled."
    starts = (2, 14) if right else (0, 16)
    group = "male" if right else "female"
    return {
        "number": number,
        "id": f"d{number}",
        "source": "reddit",
        "start": 0,
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
        "split": "report" if number >= 60 else "train",
        "text": text,
        "mentions": [
            {"attribute": "gender", "number": n, "start": at, "end": at + 3 - (n == 2 and right),
             "group": group}
            for n, at in enumerate(starts, 1)
        ],
        "entities": [
            {"attribute": "gender", "mentions": [1, 2], "who": "P", "label": "r" if right else "w",
             "reason": "" if right else "biology"}
        ],
    }  # fmt: skip


def test_a_reader_is_trained_and_goes_on_from_an_earlier_training(
    tmp_path: Path, pretrained: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = tmp_path / "documents.jsonl.gz"
    write(rows, [document(number) for number in range(70)])
    options: Any = {"documents": [rows], "layers": 1, "epochs": 1, "threads": 1}
    first, out = tmp_path / "first", tmp_path / "out"
    reader_command.train(pretrained, first, **options, until=30)
    early = capsys.readouterr().out
    reader_command.train(pretrained, out, **options, begin=first)
    late = capsys.readouterr().out
    learnt = [int(each.split()[0]) for each in (early, late)]
    # One in eight calibrates, and those of the report are neither learnt from nor calibrate
    assert learnt[0] < 30 < learnt[1] < 60
    assert learnt[1] + int(late.split(", ")[1].split()[0]) == 60
    reader = Reader(out)
    assert reader.about["documents"] == learnt[1]
    assert set(reader.about["cuts"]["document"]) >= {"all", "gender"}
    asked = "A man smiled. He smiled.", [Place(2, 5), Place(14, 16)]
    one, other = (each.read(*asked).said(0).right for each in (Reader(first), reader))
    assert one != other


@pytest.mark.parametrize("sure", [0.5, 2.0, 12.0])  # how much too sure the logits are
def test_platt_makes_probabilities_of_logits(sure: float) -> None:
    rng = np.random.default_rng(0)
    logits = rng.normal(0, 2, 5000)
    true = rng.random(5000) < 1 / (1 + np.exp(-(logits - 1)))
    slope, shift = reader_command.platt(logits * sure, true)
    assert slope * sure == pytest.approx(1, abs=0.1)
    assert shift == pytest.approx(-1, abs=0.1)


def test_the_first_stage_scores_as_it_was_trained(tmp_path: Path) -> None:
    rng = np.random.default_rng(0)
    words = sorted({"A", "man", "woman", "smiled", ".", "She", "He", "gave", "birth"})
    vectors = rng.integers(-127, 128, (len(words), 8)).astype(np.int8)
    design = distil.Design(words, vectors * 0.01)
    texts = [RIGHT, WRONG, "A [man|woman] and a [he|she] gave.", "none"]
    line = rng.normal(size=len(design.exchange(RIGHT)) + 1)
    heads = {"exchange": line, "stereotype": rng.normal(size=9)}
    (tmp_path / static.WORDS).write_text("\n".join(words))
    tensors = {"vectors": vectors, "scale": np.float32(0.01), **heads}
    names = [static.WORDS, static.TENSORS]
    head.write(tmp_path / static.MANIFEST, static.FORMAT, static.VERSION, names, {}, tensors)
    first = FirstStage(tmp_path)
    logits = np.array([design.exchange(text) for text in texts]) @ line[:-1] + line[-1]
    wanted = pytest.approx((1 / (1 + np.exp(-logits))).tolist(), abs=1e-4)
    assert first.exchanges("gender", [[text] for text in texts]) == wanted


def test_the_graph_for_batches_is_made_of_the_other_one(tmp_path: Path) -> None:
    shutil.copy(files.SHIPPED / reader.GRAPH, tmp_path)
    export.write_batches(tmp_path)
    made, shipped = (folder / reader.BATCHES for folder in (tmp_path, files.SHIPPED))
    assert made.read_bytes() == shipped.read_bytes()
