"""The encoder: values of its heads for an exchange or a sentence, by ONNX Runtime in 8 bits.

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
import onnxruntime
import tokenizers

from evenflow.transforms.models import files
from evenflow.transforms.models.files import ModelError
from evenflow.transforms.models.heads import (
    ASSOCIATION,
    EXCHANGE,
    REASON,
    REASONS,
    STANCE,
    STEREOTYPE,
    STRENGTH,
    HeadLayout,
)
from evenflow.transforms.models.pieces import LONGEST, Tokenizer
from evenflow.transforms.models.stereotype_head import CreedHead, StereotypeHead

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

FORMAT, VERSION = "evenflow-encoder", 1
MANIFEST, GRAPH, VOCABULARY = "encoder.json", "encoder.onnx", "vocab.txt"
# The vectors of the word pieces, which all graphs of a folder share; their name in this graph
TABLE, TABLE_NAME = "pieces.bin", "words.weight_quantized"
WIDTH = 384  # numbers of a vector
RIGHT = 0.5  # an exchange with a lower probability has a reason why it is wrong
FIRST, LAST, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


# The states of the pieces in the graph: what its means are taken of
STATES = "layer_norm_8"
VALUES = "values"  # the graph's output


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
    """Judges whether exchanges are right and whether sentences are stereotypes.

    Args:
        folder: A folder with a manifest and the files that it names.
        threads: Threads for one text.
        head: What says whether a sentence states a stereotype; None: the graph's own head.
        creed: What says whether a stereotype is of a creed alone; None: nothing.

    Attributes:
        about: The manifest.
        layout: The columns of the head values.
        tokenizer: Cuts texts into word pieces.

    Raises:
        ModelError: A file is missing, damaged or of another model.
    """

    def __init__(
        self,
        folder: Path,
        threads: int = 1,
        head: StereotypeHead | None = None,
        creed: CreedHead | None = None,
    ):
        path = folder / MANIFEST
        self.about = files.manifest(path, FORMAT, VERSION)
        self._head, self._creed = head, creed
        try:
            self.layout = HeadLayout(self.about["choices"])
            self._calibration = {
                name: (float(each[0]), float(each[1]))
                for name, each in self.about["calibration"].items()
            }
            self.tokenizer = read_tokenizer(folder / VOCABULARY)
            more = STATES if head or creed else ""
            self._session = open_session(folder / GRAPH, threads, more)
        # Both libraries raise types of their own, even Exception itself.
        except Exception as error:
            raise ModelError(
                f"{path}: the model cannot be used ({error}); {files.REBUILD}"
            ) from error

    @classmethod
    def shipped(cls) -> Encoder:
        """Load the encoder of this package, once for each process.

        Returns:
            The encoder.

        Raises:
            ModelError: A file is missing, damaged or of another model.
        """
        return _shipped()

    def values(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Compute the head values of texts.

        Args:
            texts: n texts.

        Returns:
            The values, (n, outputs) float32, in the order of `heads.HeadLayout`.

        Raises:
            ModelError: A library failed.
        """
        return self._run(texts)[0]

    def _run(self, texts: Sequence[str]) -> tuple[npt.NDArray[np.float32], list[Floats]]:
        """The head values of texts, and their mean states if a head of its own reads these."""
        out = np.zeros((len(texts), self.layout.outputs), np.float32)
        means: list[Floats] = []
        wanted = [VALUES, STATES] if self._head or self._creed else [VALUES]
        for row, text in enumerate(texts):
            try:
                pieces = self.tokenizer.pieces(text)
                given = {
                    "ids": np.array([pieces.ids], np.int64),
                    "types": np.array([pieces.types], np.int64),
                }
                values = self._session.run(wanted, given)
                out[row] = values[0][0]
                if len(wanted) > 1:
                    means.append(values[1][0].astype(np.float64).mean(0))
            except Exception as error:  # as above
                raise ModelError(f"the encoder failed: {type(error).__name__}: {error}") from error
        return out, means

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> list[tuple[float, str]]:
        """Judge exchanges by their windows, as the encoder was trained to; a gate asks the reader.

        Args:
            attribute: The attribute whose groups are exchanged. One without labelled data is judged
                by what the model learnt from the others.
            each: The marked windows of each exchange, at least one.

        Returns:
            The probability that each exchange is right, the least over its windows. Where it is
            below `RIGHT`, the likeliest reason why it is wrong, otherwise an empty string.

        Raises:
            ValueError: An exchange has no window.
            ModelError: A library failed.
        """
        if not all(each):
            raise ValueError("an exchange has no window: there is nothing to judge")
        values = self.values([window for windows in each for window in windows])
        slope, shift = self._calibration.get(f"exchange {attribute}", self._calibration["exchange"])
        out: list[tuple[float, str]] = []
        at = 0
        for windows in each:
            own = values[at : at + len(windows)]
            at += len(windows)
            worst = own[own[:, EXCHANGE].argmin()]
            probability = float(logistic(slope * worst[EXCHANGE] + shift))
            reason = (
                "" if probability >= RIGHT else list(REASONS.values())[int(worst[REASON].argmax())]
            )
            out.append((probability, reason))
        return out

    def stereotypes(self, inputs: Sequence[str]) -> list[Stereotype]:
        """Judge sentences whose group words are masked.

        Args:
            inputs: Sentences as `stereotypes.masking` prepares them.

        Returns:
            One judgement for each sentence, in order.

        Raises:
            ModelError: A library failed.
        """
        values, means = self._run(inputs)
        slope, shift = self._calibration["stereotype"]
        out: list[Stereotype] = []
        for number, row in enumerate(values.astype(np.float64)):
            own = slope * row[STEREOTYPE] + shift
            logit = self._head.logit(means[number]) if self._head else own
            chances = [logit, row[STRENGTH], row[ASSOCIATION]]
            probability, strength, association = logistic(chances).tolist()
            choices = {name: self._choice(name, row) for name in self.layout.choices}
            stance = choices.pop(STANCE, {})
            creed = None if self._creed is None else self._creed.logit(means[number])
            creed = None if creed is None else float(logistic(creed))
            out.append(Stereotype(probability, strength, choices, stance, association, creed))
        return out

    def _choice(self, name: str, row: npt.NDArray[np.float64]) -> dict[str, float]:
        """The probability of each class of a choice."""
        own = row[self.layout.columns[name]]
        shares = np.exp(own - own.max())
        return dict(zip(self.layout.choices[name], (shares / shares.sum()).tolist(), strict=True))


class PieceStates:
    """What the shipped encoder makes of each piece of a text, before its heads.

    Attributes:
        about: The manifest.
        size: The D numbers of a state.

    Raises:
        ModelError: A file is missing or damaged.
    """

    def __init__(self) -> None:
        self.about = files.manifest(files.SHIPPED / MANIFEST, FORMAT, VERSION)
        try:
            self._tokenizer = read_tokenizer(files.SHIPPED / VOCABULARY)
            self._session = open_session(files.SHIPPED / GRAPH, threads=1, more=STATES)
        except Exception as error:  # as for `Encoder`
            raise ModelError(f"{GRAPH}: no states in it ({error}); {files.REBUILD}") from error
        self.size = self.of("")[0].shape[1]

    def of(self, text: str) -> tuple[Floats, Ints, npt.NDArray[np.bool_], bool]:
        """Read a text.

        Args:
            text: The text.

        Returns:
            The states of its n pieces (n, D); their characters (n, 2); whether each is in the
            vocabulary (n,); and whether the text goes on behind them.
        """
        pieces = self._tokenizer.pieces(text)
        given = {name: np.array([getattr(pieces, name)], np.int64) for name in ("ids", "types")}
        states = self._session.run([STATES], given)[0][0].astype(np.float64)
        known = given["ids"][0] != self._tokenizer.unknown
        return states, np.array(pieces.places, np.int64), known, len(known) == LONGEST


@cache
def _shipped() -> Encoder:
    """The encoder of this package."""
    return Encoder(files.SHIPPED, head=StereotypeHead.shipped(), creed=CreedHead(files.SHIPPED))


def open_session(graph: Path, threads: int, more: str = "") -> Any:
    """Load a graph.

    Args:
        graph: The file of the graph.
        threads: Threads for one text.
        more: The name of an inner value that is to be an output too.

    Returns:
        The session of ONNX Runtime.
    """
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
    given: str | bytes = str(graph)
    if more:
        given = _with_output(graph.read_bytes(), more)
        table = np.fromfile(graph.with_name(TABLE), np.uint8).reshape(-1, WIDTH)
        options.add_external_initializers(
            [TABLE_NAME], [onnxruntime.OrtValue.ortvalue_from_numpy(table)]
        )
    return onnxruntime.InferenceSession(given, options, providers=["CPUExecutionProvider"])


def _with_output(graph: bytes, name: str) -> bytes:
    """A model of ONNX with one more output (protobuf merges messages that stand in a row)."""
    made = name.encode()
    for tag in (b"\x0a", b"\x62", b"\x3a"):  # ValueInfoProto.name, GraphProto.output, .graph
        made = tag + bytes([len(made)]) + made
    return graph + made


def read_tokenizer(vocabulary: Path) -> Tokenizer:
    """Read the tokenizer of a vocabulary, for texts with marked changes.

    Args:
        vocabulary: See `read_model`.

    Returns:
        The tokenizer.
    """
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
