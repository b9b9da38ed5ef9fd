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
from onnx.external_data_helper import set_external_data
from onnxruntime.quantization import QuantType, quantize_dynamic

from evenflow.transforms.lab.training.head import write
from evenflow.transforms.lab.training.reading import ReaderNetwork
from evenflow.transforms.models import reader
from evenflow.transforms.models.encoder import TABLE, VOCABULARY
from evenflow.transforms.models.passages import LONGEST


def write_reader(
    network: ReaderNetwork,
    calibration: Mapping[str, list[float]],
    vocabulary: Path,
    out: Path,
    about: Mapping[str, Any],
) -> None:
    """Write the reader's graph, heads, vocabulary and manifest."""
    _write_graph(network, out / reader.GRAPH)
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
    names = [reader.GRAPH, TABLE, reader.HEADS, VOCABULARY]
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
