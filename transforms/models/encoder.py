"""The encoder: reads an exchange or a sentence and says what its heads know of it, by ONNX Runtime
in 8 bits.

Texts are read one at a time: what 8 bits can show of a number depends on the largest number beside
it, so that with others in a batch a text would have another answer, and a document's fate would
hang on how a stream was cut.
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
from evenflow.transforms.models.pieces import Tokenizer

FORMAT, VERSION = "evenflow-encoder", 1
MANIFEST, GRAPH, VOCABULARY = "encoder.json", "encoder.onnx", "vocab.txt"
RIGHT = 0.5  # a probability below has a reason
FIRST, LAST, UNKNOWN = "[CLS]", "[SEP]", "[UNK]"


class Stereotype(NamedTuple):
    """What the encoder says of a sentence.

    Attributes: probability: That it states a stereotype of the group that is masked. strength: How
        strong people would call it, 0 to 1. indicators: Of each, the probability of its classes.
        stance: How it is said: the probability of each class. association: The probability that it
        says what the group's name calls to mind, of a single person too.
    """

    probability: float
    strength: float
    indicators: Mapping[str, Mapping[str, float]]
    stance: Mapping[str, float]
    association: float


class Encoder:
    """Says whether exchanges are right, and whether sentences are stereotypes.

    Args:
        folder: With a manifest and the files that it names.
        threads: Of the processor, for one text.

    Raises:
        ModelError: A file is missing, damaged or of another model.
    """

    def __init__(self, folder: Path, threads: int = 1):
        path = folder / MANIFEST
        self.about = files.manifest(path, FORMAT, VERSION)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        try:
            self.layout = HeadLayout(self.about["choices"])
            self._calibration = {
                name: (float(each[0]), float(each[1]))
                for name, each in self.about["calibration"].items()
            }
            self.tokenizer = tokenizer(folder / VOCABULARY)
            self._session: Any = onnxruntime.InferenceSession(
                str(folder / GRAPH), options, providers=["CPUExecutionProvider"]
            )
        # Both libraries raise types of their own, down to Exception itself
        except Exception as error:
            raise ModelError(
                f"{path}: the model cannot be used ({error}); {files.REBUILD}"
            ) from error

    @classmethod
    def shipped(cls) -> Encoder:
        """The encoder of this package, loaded once a process. Raises ModelError as above."""
        return _shipped()

    def values(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """The head values (n, outputs) of texts, as `heads.Layout` orders them. Raises ModelError
        where a library fails.
        """
        out = np.zeros((len(texts), self.layout.outputs), np.float32)
        for row, text in enumerate(texts):
            try:
                pieces = self.tokenizer.pieces(text)
                given = {
                    "ids": np.array([pieces.ids], np.int64),
                    "types": np.array([pieces.types], np.int64),
                }
                out[row] = self._session.run(None, given)[0][0]
            except Exception as error:  # as above
                raise ModelError(f"the encoder failed: {type(error).__name__}: {error}") from error
        return out

    def exchanges(self, attribute: str, each: Sequence[Sequence[str]]) -> list[tuple[float, str]]:
        """Judges exchanges (`counterfactuals.Judge`).

        Args: attribute: Whose groups are exchanged; one without labelled data is judged by what the
            others taught. each: The marked windows of each exchange, at least one.

        Returns: The probability that an exchange is right, the least over its windows, and where it
            is below RIGHT the likeliest reason why it is not.

        Raises:
            ValueError: An exchange without a window.
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
        """Judges sentences whose group words are masked.

        Args:
            inputs: Sentences as the stereotyping room prepares them.

        Returns:
            One a sentence, in order.
        """
        values = self.values(inputs).astype(np.float64)
        slope, shift = self._calibration["stereotype"]
        out: list[Stereotype] = []
        for row in values:
            chances = [slope * row[STEREOTYPE] + shift, row[STRENGTH], row[ASSOCIATION]]
            probability, strength, association = logistic(chances).tolist()
            said = {name: self._choice(name, row) for name in self.layout.choices}
            stance = said.pop(STANCE, {})
            out.append(Stereotype(probability, strength, said, stance, association))
        return out

    def _choice(self, name: str, row: npt.NDArray[np.float64]) -> dict[str, float]:
        """The probability of each class of a choice."""
        own = row[self.layout.columns[name]]
        shares = np.exp(own - own.max())
        return dict(zip(self.layout.choices[name], (shares / shares.sum()).tolist(), strict=True))


@cache
def _shipped() -> Encoder:
    return Encoder(files.SHIPPED)


def tokenizer(vocabulary: Path) -> Tokenizer:
    """The tokenizer of a vocabulary, one word piece a line; marks such as [MASK] in a text are
    text.
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
    return Tokenizer(model, pieces[FIRST], pieces[LAST])


def logistic(values: Any) -> npt.NDArray[np.float64]:
    """1 / (1 + e^-x) without overflow."""
    return 0.5 * (1 + np.tanh(np.asarray(values, np.float64) / 2))
