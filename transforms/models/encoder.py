"""The encoder: what its heads say of a sentence, by ONNX Runtime in 8 bits.

Texts are read one at a time. The precision of 8 bits depends on the largest number in a batch. With
others in its batch a text would get another answer, and a document's result would depend on how a
stream was cut.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.transforms.models import files
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.models.heads import ASSOCIATION, STANCE, STRENGTH
from evenflow.transforms.models.pieces import Tokenizer
from evenflow.transforms.models.stereotype_head import StereotypeHead

try:
    import onnxruntime
    import tokenizers
except ModuleNotFoundError as error:
    raise ModuleNotFoundError(f"{error}: it is in the extra models", name=error.name) from error

Floats = npt.NDArray[np.float64]

FORMAT, VERSION = "evenflow-encoder", 1
MANIFEST, GRAPH, VOCABULARY = "encoder.json", "encoder.onnx", "vocab.txt"
# The vectors of the word pieces, which all graphs of a folder share; their name in this graph
TABLE, TABLE_NAME = "pieces.bin", "words.weight_quantized"
WIDTH = 384  # numbers of a vector
FIRST, LAST, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


# The states of the pieces in the graph: what its means are taken of
STATES = "layer_norm_8"
VALUES = "values"  # the graph's output
# Added up and normalised in one step, states take five times as long as in two
SLOW = ["SkipLayerNormFusion"]
PROVIDERS = {"cpu": "CPUExecutionProvider", "cuda": "CUDAExecutionProvider"}  # by device


class Stereotype(NamedTuple):
    """What the encoder says about a sentence.

    Attributes:
        probability: That it states a stereotype of the masked group, 0 to 1.
        strength: How strong people would call the stereotype, 0 to 1.
        indicators: The probability of each class, by indicator.
        stance: The probability of each class of stance: how the sentence is said.
        association: The probability that it says what the group's name calls to mind, also of a
            single person.
        creed: The probability that the stereotype is of a creed alone, and of no people; None:
            unknown.
    """

    probability: float
    strength: float
    indicators: Mapping[str, Mapping[str, float]]
    stance: Mapping[str, float]
    association: float
    creed: float | None = None


class Encoder:
    """Judges whether sentences are stereotypes.

    Args:
        folder: A folder with a manifest and the files that it names, and the heads of
            `stereotype_head`.

    Attributes:
        tokenizer: Cuts texts into word pieces.
        choices: The classes by name of the choice, in the order of the graph's columns.

    Raises:
        ModelError: A file is missing, damaged or of another model.
    """

    def __init__(self, folder: Path):
        path = folder / MANIFEST
        self.about = files.manifest(path, FORMAT, VERSION)
        with files.usable(path):
            self.choices: Mapping[str, Sequence[str]] = self.about["choices"]
            self._sizes = [len(each) for each in self.choices.values()]
            self.tokenizer = read_tokenizer(folder / VOCABULARY)
            self._session = open_session(folder / GRAPH, STATES)
        self._head = StereotypeHead(folder)

    @classmethod
    @cache
    def shipped(cls) -> Encoder:
        """Load the encoder of this package, once for each process.

        Raises:
            ModelError: A file is missing, damaged or of another model.
        """
        return cls(files.SHIPPED)

    def run(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.float32], list[Floats]]:
        """Read n texts.

        Returns:
            Their head values, (n, outputs), and the mean state of the pieces of each, (D,).

        Raises:
            ModelError: A library failed.
        """
        out = np.zeros((len(texts), STRENGTH + 1 + sum(self._sizes)), np.float32)
        means: list[Floats] = []
        for row, text in enumerate(texts):
            with files.usable("the encoder"):
                pieces = self.tokenizer.pieces(text)
                given = {
                    "ids": np.array([pieces.ids], np.int64),
                    "types": np.array([pieces.types], np.int64),
                }
                values, states = self._session.run([VALUES, STATES], given)
                out[row] = values[0]
                means.append(states[0].astype(np.float64).mean(0))
        return out, means

    def stereotypes(self, inputs: Sequence[str]) -> list[Stereotype]:
        """Judge sentences whose group words are masked.

        Args:
            inputs: Sentences as `stereotypes.masking` prepares them.

        Returns:
            One judgement for each sentence, in order.

        Raises:
            ModelError: A library failed.
        """
        values, means = self.run(inputs)
        out: list[Stereotype] = []
        for number, row in enumerate(values.astype(np.float64)):
            chances = [self._head.logit(means[number]), row[STRENGTH], row[ASSOCIATION]]
            probability, strength, association = logistic(chances).tolist()
            choices = self._choices(row)
            stance = choices.pop(STANCE, {})
            creed = float(logistic(self._head.creed(means[number])))
            out.append(Stereotype(probability, strength, choices, stance, association, creed))
        return out

    def _choices(self, row: npt.NDArray[np.float64]) -> dict[str, dict[str, float]]:
        """The probability of each class of each choice."""
        own, sizes = row[STRENGTH + 1 :], self._sizes
        starts = np.cumsum([0, *sizes[:-1]])
        shares = np.exp(own - np.maximum.reduceat(own, starts).repeat(sizes))
        values = iter((shares / np.add.reduceat(shares, starts).repeat(sizes)).tolist())
        return {
            name: dict(zip(classes, values, strict=False)) for name, classes in self.choices.items()
        }


def open_session(graph: Path, more: str = "", device: str = "cpu") -> Any:
    """Load a graph on a device of `PROVIDERS`. Raises ModelError where it cannot be used."""
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    given: str | bytes = str(graph)
    if more:
        given = _with_output(graph.read_bytes(), more)
        table = np.fromfile(graph.with_name(TABLE), np.uint8).reshape(-1, WIDTH)
        options.add_external_initializers(
            [TABLE_NAME], [onnxruntime.OrtValue.ortvalue_from_numpy(table)]
        )
    if device != "cpu":
        onnxruntime.preload_dlls()  # libraries that pip installed
    # What else it can compute in fewer bits, it does not
    provider = PROVIDERS[device], {"use_tf32": "0"}
    session = onnxruntime.InferenceSession(
        given, options, providers=[provider], disabled_optimizers=SLOW
    )
    if session.get_providers()[0] != provider[0]:  # it fell back to the CPU
        raise ModelError(
            f"repair.device: {device} cannot be used: onnxruntime {onnxruntime.__version__} has"
            f" {', '.join(onnxruntime.get_available_providers())}. Without {provider[0]}: pip"
            " uninstall onnxruntime; pip install 'onnxruntime-gpu[cuda,cudnn]'. With it: it says"
            " above which library it lacks, and nvidia-smi whether there is a GPU"
        )
    return session


def _with_output(graph: bytes, name: str) -> bytes:
    """A model of ONNX with one more output (protobuf merges messages that stand in a row)."""
    made = name.encode()
    for tag in (b"\x0a", b"\x62", b"\x3a"):  # ValueInfoProto.name, GraphProto.output, .graph
        made = tag + bytes([len(made)]) + made
    return graph + made


def read_tokenizer(vocabulary: Path) -> Tokenizer:
    """Read the tokenizer of a vocabulary, for texts with marked changes."""
    model = read_model(vocabulary)
    known = model.get_vocab()
    return Tokenizer(model, known[FIRST], known[LAST], known[UNKNOWN])


def read_model(vocabulary: Path) -> tokenizers.Tokenizer:
    """Read the word pieces of a vocabulary.

    Args:
        vocabulary: A file with one word piece a line. Marks such as [MASK] in a text are read as
            text.

    Returns:
        A model that lower-cases a text and cuts it into pieces.
    """
    pieces = {
        piece: number
        for number, piece in enumerate(vocabulary.read_text(encoding="utf-8").splitlines())
    }
    model = tokenizers.Tokenizer(
        tokenizers.models.WordPiece(pieces, unk_token=UNKNOWN, max_input_chars_per_word=100)
    )
    model.normalizer = tokenizers.normalizers.BertNormalizer(lowercase=True)  # pyright: ignore[reportAttributeAccessIssue]
    model.pre_tokenizer = tokenizers.pre_tokenizers.BertPreTokenizer()  # pyright: ignore[reportAttributeAccessIssue]
    return model


def logistic(values: Any) -> npt.NDArray[np.float64]:
    """Compute 1 / (1 + e^-x) without overflow.

    Args:
        values: Logits of any shape.

    Returns:
        Probabilities of the same shape.
    """
    return 0.5 * (1 + np.tanh(np.asarray(values, np.float64) / 2))
