"""A masked language model in 8 bits, computed by onnxruntime: faster on a CPU, nearly as exact."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenflow.transforms.lab.language_models.masked import MaskedModel
from evenflow.transforms.lab.masking.scoring import Predict
from evenflow.transforms.models.loading import LanguageModelError

INPUTS = ("tokens", "seen", "rows", "positions")


def predict(model: MaskedModel, digest: str, folder: Path, threads: int | None = None) -> Predict:
    """What computes with a model in 8 bits.

    Args:
        model: The model, which is exported where the folder does not have it.
        digest: Digest of the model's files; the file is named after it.
        folder: Where exported models are.
        threads: Threads; None: as many as there are cores.

    Returns:
        The function that a `MaskedScorer` takes.

    Raises:
        LanguageModelError: The model's head cannot be exported.
        OSError: The file cannot be written.
    """
    import onnxruntime

    path = folder / f"{digest[:16]}.onnx"
    if not path.exists():
        folder.mkdir(parents=True, exist_ok=True)
        export(model, path)
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = threads or 0
    options.log_severity_level = 3
    session = onnxruntime.InferenceSession(str(path), options, providers=["CPUExecutionProvider"])

    def run(
        tokens: NDArray[np.int64],
        seen: NDArray[np.int64],
        rows: Sequence[int],
        positions: Sequence[int],
    ) -> Any:
        given = (tokens, seen, np.array(rows, np.int64), np.array(positions, np.int64))
        [logits] = session.run(None, dict(zip(INPUTS, given, strict=True)))
        values: Any = np.asarray(logits, np.float32)
        values = values - values.max(axis=1, keepdims=True)
        return values - np.log(np.exp(values).sum(axis=1, keepdims=True))

    return run


def export(model: MaskedModel, path: Path) -> None:
    """Write a model as an ONNX file with weights of 8 bits.

    Args:
        model: The model.
        path: The file.

    Raises:
        LanguageModelError: The model's head cannot be exported.
        OSError: The file cannot be written.
    """
    import onnx
    import torch
    from onnxruntime.quantization import QuantType, quantize_dynamic

    whole = model.loaded.model
    head = getattr(whole, "cls", None) or getattr(whole, "lm_head", None)
    if head is None:
        raise LanguageModelError("the model's head is not known, so it cannot be exported to ONNX")

    class Filler(torch.nn.Module):
        """The model with its head at some places alone."""

        def __init__(self) -> None:
            super().__init__()
            self.body, self.head = whole.base_model, head

        def forward(self, tokens: Any, seen: Any, rows: Any, positions: Any) -> Any:
            hidden = self.body(input_ids=tokens, attention_mask=seen)[0]
            return self.head(hidden[rows, positions])

    count, length = torch.export.Dim("count", min=1), torch.export.Dim("length", min=2)
    places = torch.export.Dim("places", min=1)
    example = (
        torch.tensor([[1, 2, 3, 4, 5], [1, 2, 3, 0, 0], [1, 2, 3, 4, 0]]),
        torch.tensor([[1, 1, 1, 1, 1], [1, 1, 1, 0, 0], [1, 1, 1, 1, 0]]),
        torch.tensor([0, 1, 2, 2]),
        torch.tensor([1, 1, 1, 2]),
    )
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        exact, small = Path(folder) / "exact.onnx", Path(folder) / "small.onnx"
        program = torch.onnx.export(
            Filler().eval(),
            example,
            input_names=list(INPUTS),
            output_names=["logits"],
            dynamic_shapes=(
                {0: count, 1: length},
                {0: count, 1: length},
                {0: places},
                {0: places},
            ),
            dynamo=True,
            verbose=False,
        )
        if program is None:
            raise LanguageModelError("the model cannot be exported to ONNX")
        proto = program.model_proto
        del proto.graph.value_info[:]  # the quantiser finds these shapes itself
        onnx.save(proto, str(exact))
        quantize_dynamic(
            str(exact),
            str(small),
            op_types_to_quantize=["MatMul"],  # embeddings and head stay exact
            nodes_to_exclude=_narrowing(proto),
            per_channel=True,
            reduce_range=True,  # see transforms/lab/training/export.py
            weight_type=QuantType.QInt8,
        )
        os.replace(small, path)  # noqa: PTH105 (atomic)


def _narrowing(proto: Any) -> list[str]:
    """Names of the products whose weights have more rows than columns.

    These are the second layers of BERT's feed-forward parts. Their inputs have a few values that
    are far larger than the others, and 8 bits leave little for the others: the ranking of sentences
    is lost (tests/benchmarks/mine_speed.py shows the ranking).
    """
    sizes = {each.name: list(each.dims) for each in proto.graph.initializer}
    return [
        node.name
        for node in proto.graph.node
        for dims in [sizes.get(name, []) for name in node.input]
        if node.op_type == "MatMul" and len(dims) == 2 and dims[0] > dims[1]
    ]
