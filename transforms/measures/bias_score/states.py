"""What an encoder makes of each piece of a sentence: a transformer of a folder, or the shipped one.

A sentence's numbers must not depend on the others that are computed with it, or the gate's figures
would depend on how a stream was cut. Sums of floats differ in the last digits with the shape of a
batch and with the number of threads. So all batches of a length have one shape, and one thread
computes them. The shipped encoder reads one sentence at a time (see `models.encoder`).
"""

from __future__ import annotations

import hashlib
import threading
from collections import defaultdict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import NamedTuple, Protocol

import numpy as np
import numpy.typing as npt

from evenflow.transforms.measures.bias_score.vectors import VectorsError

ROWS = 8  # sentences of a batch, which read the weights once; missing ones are filled up
STEP = 16  # pieces: a batch is as long as a multiple of it
LONGEST = 512  # pieces that are read of a sentence: BERT's context; memory grows with the square
_ONE_AT_A_TIME = threading.Lock()


class States(NamedTuple):
    """The T pieces of a sentence.

    Attributes:
        number: The sentence's number.
        states: The last hidden state of each piece, (T, D).
        places: The characters of each, (T, 2); of no width for marks that are not in the text.
        known: Whether it is in the vocabulary, (T,).
        cut: Whether the sentence goes on behind the context.
    """

    number: int
    states: npt.NDArray[np.float64]
    places: npt.NDArray[np.int64]
    known: npt.NDArray[np.bool_]
    cut: bool


class StateEncoder(Protocol):
    """A model that reads sentences.

    Attributes:
        name: What it is called in messages.
        digest: A SHA-256 of what its states depend on.
        size: The D numbers of a state.
        averages: Whether it averages its pieces; otherwise the maximum stands for the sentence.
    """

    name: str
    digest: str
    size: int
    averages: bool

    def states(self, sentences: Sequence[str]) -> Iterator[States]:
        """The states of n sentences without lone surrogates, in any order."""
        ...


class Transformer:
    """An encoder of transformers, on the CPU in 32 bits, so that all machines compute alike.

    Args:
        model: A model's folder, or a local name; nothing is downloaded.

    Raises:
        LanguageModelError: The model cannot be loaded.
        VectorsError: It is no encoder, or its tokenizer does not say where pieces stand.
        OSError: A file cannot be read.
    """

    def __init__(self, model: str):
        import torch

        from evenflow.transforms.models import loading
        from evenflow.transforms.models.encoding import pooling

        folder, kind = loading.folder_of(model), loading.kind_of(model)
        if kind == "causal" or loading.config_of(folder).is_encoder_decoder:
            raise VectorsError(
                f"{folder}: not an encoder; a model that reads a sentence as a whole was expected,"
                " such as BERT"
            )
        loaded = loading.load(model, kind="encoder")
        if not loaded.tokenizer.is_fast:
            raise VectorsError(f"{folder}: its tokenizer does not say where in a text pieces stand")
        self.name, self.digest = str(folder), loading.digest(model)
        self.averages = pooling(folder, kind) == "mean"
        self._model = loaded.model.to("cpu", torch.float32)
        self._tokenizer = loaded.tokenizer
        self._context = min(loaded.context, LONGEST)
        try:
            self.size = next(self.states(["probe"])).states.shape[1]
        except (AttributeError, IndexError, RuntimeError, TypeError, ValueError) as error:
            what = type(error).__name__
            raise VectorsError(f"{folder}: not an encoder of text ({what})") from error

    def states(self, sentences: Sequence[str]) -> Iterator[States]:
        """The states of n sentences, as `StateEncoder` has it."""
        import torch

        if not sentences:
            return
        given = self._tokenizer(
            list(sentences),
            truncation=True,
            max_length=self._context,
            return_offsets_mapping=True,
        )
        places = given.pop("offset_mapping")
        alike: dict[int, list[int]] = defaultdict(list)
        for number, own in enumerate(places):
            alike[min(-(-len(own) // STEP) * STEP, self._context)].append(number)
        for length, numbers in alike.items():
            for first in range(0, len(numbers), ROWS):
                chosen = numbers[first : first + ROWS]
                rows = (chosen * ROWS)[:ROWS]
                batch = self._tokenizer.pad(
                    {name: [values[row] for row in rows] for name, values in given.items()},
                    padding="max_length",
                    padding_side="right",
                    max_length=length,
                    return_tensors="pt",
                )
                with _one_thread(), torch.inference_mode():
                    found = self._model(**batch)[0].double().numpy()
                for number, states in zip(chosen, found, strict=False):
                    own = np.array(places[number], np.int64)
                    known = np.array(given["input_ids"][number]) != self._tokenizer.unk_token_id
                    cut = len(own) == self._context
                    yield States(number, states[: len(own)], own, known, cut)


class Shipped:
    """The encoder that judges exchanges and stereotypes, without its heads.

    Raises:
        ModelError: A file is missing or damaged.
    """

    averages = True  # as its heads read it

    def __init__(self) -> None:
        from evenflow.transforms.models.encoder import PieceStates

        self.name = "the shipped encoder"
        self._read = PieceStates()
        files = sorted(self._read.about["files"].items())
        self.digest = hashlib.sha256(repr(files).encode()).hexdigest()
        self.size = self._read.size

    def states(self, sentences: Sequence[str]) -> Iterator[States]:
        """The states of n sentences, as `StateEncoder` has it."""
        for number, sentence in enumerate(sentences):
            yield States(number, *self._read.of(sentence))


@contextmanager
def _one_thread() -> Iterator[None]:
    """Let torch compute in one thread: a sum's last digits depend on how threads share it."""
    import torch

    with _ONE_AT_A_TIME:
        before = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            yield
        finally:
            torch.set_num_threads(before)
