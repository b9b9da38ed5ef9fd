"""Writes a trained network as the 8-bit ONNX file that `reader.Reader` reads."""

# pyright: reportMissingImports=false
from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import onnx
import torch
from onnx import helper, numpy_helper, parser
from onnx.external_data_helper import set_external_data
from onnxruntime.quantization import QuantType, quantize_dynamic

from evenflow.transforms.lab.training.head import write
from evenflow.transforms.lab.training.reading import ReaderNetwork
from evenflow.transforms.models import reader
from evenflow.transforms.models.encoder import TABLE, VOCABULARY
from evenflow.transforms.models.passages import LONGEST

LARGE = 100_000  # bytes of a table of weights that stays in the other graph's file
# What replaces operators in a graph for batches: functions of ONNX with their names, but the first
FUNCTIONS = Path(__file__).parent / "data" / "batches.txt"


def write_reader(
    network: ReaderNetwork,
    calibration: Mapping[str, list[float]],
    vocabulary: Path,
    out: Path,
    about: Mapping[str, Any],
) -> None:
    """Write the reader's graph, heads, vocabulary and manifest."""
    _write_graph(network, out / reader.GRAPH)
    write_batches(out)
    heads = {
        name: np.concatenate(
            [layer.weight.detach().numpy(), layer.bias.detach().numpy()[:, None]], 1
        )
        for name, layer in network.named_children()
        if isinstance(layer, torch.nn.Linear)
    }
    heads["link"] = network.link.detach().numpy()
    small: dict[str, Any] = {name: each.astype(np.float32) for name, each in heads.items()}
    np.savez(out / reader.HEADS, **small)
    if vocabulary.resolve() != (out / VOCABULARY).resolve():
        shutil.copyfile(vocabulary, out / VOCABULARY)
    names = [reader.GRAPH, reader.BATCHES, TABLE, reader.HEADS, VOCABULARY]
    own = {"calibration": dict(calibration), **about}
    write(out / reader.MANIFEST, reader.FORMAT, reader.VERSION, names, own)


def _write_graph(network: ReaderNetwork, path: Path) -> None:
    """Write a network of ids and types as a graph in 8 bits."""
    network.eval()
    ids = torch.tensor([[101, 2158, 2003, 2058, 102]])
    length = torch.export.Dim("length", min=2, max=LONGEST)
    with tempfile.TemporaryDirectory() as folder:
        exact, small = Path(folder) / "exact.onnx", Path(folder) / "small.onnx"
        program = torch.onnx.export(
            network,
            (ids, torch.tensor([[0, 1, 0, 2, 0]])),
            input_names=["ids", "types"],
            output_names=["states"],
            dynamic_shapes=({1: length}, {1: length}),
            dynamo=True,
        )
        assert program is not None
        proto = program.model_proto
        del proto.graph.value_info[:]  # the quantiser finds these shapes itself
        onnx.save(proto, str(exact))
        # Weights have 7 bits: without the instructions of newer processors, sums of 8-bit products
        # are cut off at 16 bits.
        quantize_dynamic(
            str(exact),
            str(small),
            op_types_to_quantize=["MatMul", "Gemm", "Gather"],
            per_channel=True,
            reduce_range=True,
            weight_type=QuantType.QInt8,
        )
        onnx.checker.check_model(str(small))
        share_table(small, path)


def share_table(graph: Path, path: Path) -> None:
    """Write a graph whose table of word pieces lies in a file beside it.

    Training leaves the table as it was, so all graphs of a folder have the same one.
    """
    proto = onnx.load(str(graph))
    table = max(proto.graph.initializer, key=lambda each: len(each.raw_data))
    beside = path.parent / TABLE
    if beside.exists() and beside.read_bytes() != table.raw_data:
        raise ValueError(f"{beside} is the table of another encoder")
    beside.write_bytes(table.raw_data)
    set_external_data(table, TABLE)
    table.ClearField("raw_data")
    onnx.save(proto, str(path))


def write_batches(folder: Path) -> None:
    """Write the reader's graph for batches beside its other graph, in whose file the weights stay.

    It gives the same answers by the same whole numbers: products of 8 bits are exact in floats.
    Each passage has its own scale, and nothing looks at the padding. So what is said of a passage
    depends on others in its batch by rounding alone.
    """
    whole = (folder / reader.GRAPH).read_bytes()
    proto = onnx.load_from_string(whole)
    graph, texts = proto.graph, FUNCTIONS.read_text(encoding="utf-8").split("\n\n")
    head = f'<opset_import: ["" : {proto.opset_import[0].version}], domain: "batches">'
    own = {each.name: each for text in texts for each in [parser.parse_function(head + text)]}
    proto.functions.extend(own.values())
    proto.opset_import.append(helper.make_opsetid("batches", 1))
    shapes = {node.input[1] for node in graph.node if node.op_type == "Reshape"}
    for node in graph.node:
        del node.metadata_props[:]
        if node.op_type in {"Reshape", "Softmax"}:
            del node.attribute[:]
        if node.op_type in own:
            node.domain = "batches"
            node.input.extend(own[node.op_type].input[len(node.input) :])
    del graph.value_info[:]  # the shapes are another batch's
    graph.node.insert(0, helper.make_node("Masks", ["ids"], ["real", "mask"], domain="batches"))
    for tensor in graph.initializer:
        data = tensor.raw_data
        if tensor.name in shapes:
            shape = numpy_helper.to_array(tensor) * [0, *[1] * (tensor.dims[0] - 1)]
            tensor.CopyFrom(numpy_helper.from_array(shape, tensor.name))
        elif len(data) > LARGE:
            set_external_data(tensor, reader.GRAPH, whole.index(data), len(data))
            tensor.ClearField("raw_data")
    for each in (*graph.input, *graph.output):
        each.type.tensor_type.shape.dim[0].dim_param = "passages"
    (folder / reader.BATCHES).write_bytes(proto.SerializeToString(deterministic=True))
