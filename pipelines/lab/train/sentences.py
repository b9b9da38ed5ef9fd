"""Fits the heads that say what is wrong with a generated sentence.

    python -m evenflow.pipelines.lab.train.sentences tests/data OUT

It reads real documents of which models may learn, breaks their sentences, and reads the written
sentences of `generated_train.jsonl`, and those of `generated_exam.jsonl` that are not for report.
One document in five is held out; what the heads find in these is printed. The encoder stays as it
is. It takes two minutes of one core.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from evenflow.schemas.config import Config
from evenflow.transforms.lab.generation import sentence_head as head
from evenflow.transforms.lab.generation.support import WORD
from evenflow.transforms.lab.training.start import starter
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.models import files
from evenflow.transforms.models.encoder import MANIFEST, PieceStates
from evenflow.transforms.substitution import roles
from evenflow.transforms.text.sentences import bounds, trimmed

WRITTEN, EXAM, DOCUMENTS, SPEECHES = (
    "generated_train.jsonl",
    "generated_exam.jsonl",
    "documents.jsonl.gz",
    "speeches.jsonl.gz",
)
MOST, LENGTHS = 7000, (25, 400)  # sentences, characters
EACH = 6  # sentences of a document
HIDDEN, STEPS, BATCH = 48, 8, 512  # of the network that reads pieces
SEEN = 0.35  # share of the pieces in their place that it sees
SOFT, SOFT_WRITTEN = 0.01, 0.03  # inverse of the regularisation
WRITTEN_WEIGHT = 20.0  # of a written sentence beside a real one
SOUND = "sound"
# What a kind of written sentence is to the heads
KINDS = {"sound": SOUND, "good": SOUND, "salad": head.BROKEN, "form": head.BROKEN}
KINDS |= {"history": "other"}  # written, and neither a reply nor slander
PRONOUNS = ("her", "his", "him", "she", "he", "hers", "himself", "herself")

Edit = tuple[int, int, str]


class Row(NamedTuple):
    """A sentence to learn from.

    Attributes:
        kind: SOUND, or what is wrong with it.
        source: The kind of text.
        held: Whether it is held out.
        states: The states of its pieces.
        put: Whether each piece was put in or stands elsewhere.
    """

    kind: str
    source: str
    held: bool
    states: npt.NDArray[np.float32]
    put: npt.NDArray[np.bool_]


class Breaker:
    """Breaks sentences: other words, another order, labels of another form, words twice or gone.

    Args:
        sentences: Sentences whose words are put in.
        drawn: Draws.
    """

    def __init__(self, sentences: Sequence[str], drawn: random.Random):
        self._drawn = drawn
        self._words = [word for each in sentences for word in WORD.findall(each)]
        lists = Config().word_lists()
        self._finder = LabelFinder(lists)
        self._maps = {each.attribute: roles.of(each) for each in lists}
        self._forms: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
        for each in self._maps.values():
            for word, own in each.by_word.items():
                for role in own:
                    self._forms[role.part, role.number].append(word)
        self._ways = (self.replace, self.form, self.form, self.order, self.repeat, self.drop)

    def broken(self, text: str, number: int) -> tuple[str, list[tuple[int, int]]]:
        """Break a sentence.

        Args:
            text: The sentence.
            number: Says in which way.

        Returns:
            The new text, and what was put in it.
        """
        changed = _edited(text, self._ways[number % len(self._ways)](text))
        return changed if changed[1] else _edited(text, self.replace(text))

    def replace(self, text: str) -> list[Edit]:
        """Put words of other sentences in, from one to all."""
        spans = [each.span() for each in WORD.finditer(text)]
        number = self._drawn.choice([1, 2, 3, max(1, len(spans) // 4), len(spans), len(spans)])
        places = self._drawn.sample(spans, min(number, len(spans)))
        return [(start, end, self._drawn.choice(self._words)) for start, end in places]

    def form(self, text: str) -> list[Edit]:
        """Put labels of another part of speech or number, or pronouns, in place of labels."""
        edits: list[Edit] = []
        for each in self._finder.find(text):
            old = text[each.start : each.end].casefold()
            known = self._maps[each.attribute].by_word.get(old, ())
            own = {(role.part, role.number) for role in known}
            if not own and old not in PRONOUNS:
                continue
            others = sorted(self._forms.keys() - own if own else self._forms)
            new = [word for word in PRONOUNS if word != old]
            if self._drawn.random() < 0.6:
                new = self._forms[self._drawn.choice(others)]
            edits.append((each.start, each.end, self._drawn.choice(new)))
        return self._drawn.sample(edits, (len(edits) + 1) // 2)

    def order(self, text: str) -> list[Edit]:
        """Shuffle two words, three, or all."""
        words = list(WORD.finditer(text))
        number = min(self._drawn.choice([2, 2, 3, len(words), len(words)]), len(words))
        first = self._drawn.randrange(len(words) - number + 1)
        part = words[first : first + number]
        new = self._drawn.sample(part, number)
        return [(*at.span(), by[0]) for at, by in zip(part, new, strict=True) if at[0] != by[0]]

    def repeat(self, text: str) -> list[Edit]:
        """Say a word two to four times."""
        at = self._drawn.choice(list(WORD.finditer(text)))
        return [(*at.span(), " ".join([at[0]] * self._drawn.randint(2, 4)))]

    def drop(self, text: str) -> list[Edit]:
        """Leave a word out: the one before it now stands beside another."""
        words = list(WORD.finditer(text))
        if len(words) < 3:
            return []
        at = self._drawn.randrange(len(words) - 2)
        return [(words[at].start(), words[at + 1].end(), words[at][0])]


def _edited(text: str, edits: Sequence[Edit]) -> tuple[str, list[tuple[int, int]]]:
    """A text after edits, and where the new words stand in it."""
    out, at, places = "", 0, list[tuple[int, int]]()
    for begin, end, new in sorted(edits):
        if text[begin].isupper():
            new = new[0].upper() + new[1:]
        out += text[at:begin] + new
        places.append((len(out) - len(new), len(out)))
        at = end
    return out + text[at:], places


def sentences(data: Path, drawn: random.Random) -> list[tuple[str, str, bool]]:
    """Draw sentences of documents of which models may learn.

    Args:
        data: The folder.
        drawn: Draws.

    Returns:
        At most MOST sentences, each with its source and whether its document is held out.
    """
    out: list[tuple[str, str, bool]] = []
    for text, source, held in documents(data):
        own = [text[start:end] for start, end in trimmed(text, bounds(text).tolist())]
        own = [each for each in own if _is_usable(each)]
        drawn.shuffle(own)
        out += [(each, source, held) for each in own[:EACH]]
    drawn.shuffle(out)
    return out[:MOST]


def documents(data: Path) -> Iterator[tuple[str, str, bool]]:
    """The documents of which models may learn: text, source, and whether it is held out.

    Args:
        data: The folder.
    """
    for name in (DOCUMENTS, SPEECHES):
        with gzip.open(data / name, "rt", encoding="utf-8") as lines:
            for row in map(json.loads, lines):
                if row.get("text") and row.get("split", "train") == "train":
                    held = not hashlib.sha256(row["id"].encode()).digest()[0] % 5
                    yield row["text"], row["source"], held


def _is_usable(text: str) -> bool:
    least, most = LENGTHS
    return least <= len(text) <= most and "\n" not in text and len(WORD.findall(text)) > 2


def fit(data: Path, out: Path, seed: int = 5) -> None:
    """Fit the heads and write them.

    Args:
        data: The folder with the documents.
        out: The folder to write to.
        seed: Draws.
    """
    from sklearn.linear_model import LogisticRegression

    drawn = random.Random(seed)
    real = sentences(data, drawn)
    written = list(_written(data))
    breaker, reader = Breaker([each for each, *_ in real], drawn), PieceStates()

    def row(text: str, kind: str, source: str, held: bool, put: Sequence[tuple[int, int]]) -> Row:
        states, places, *_ = reader.of(text)
        own = [any(start < last and first < end for first, last in put) for start, end in places]
        return Row(kind, source, held, states.astype(np.float32), np.array(own, bool))

    rows: list[Row] = []
    for number, (text, source, held) in enumerate(real):
        rows.append(row(text, SOUND, source, held, ()))
        changed, put = breaker.broken(text, number)
        rows.append(row(changed, head.BROKEN, source, held, put))
    rows += [row(text, kind, "written", False, ()) for text, kind in written]
    layers = _pieces(rows, seed)
    features = np.array([head.features(each.states, _logits(each.states, layers)) for each in rows])
    middle, scale = features.mean(0), features.std(0) + 1e-6
    shown = (features - middle) / scale
    weights, shifts = list[Any](), list[float]()
    learnt = np.array([not each.held for each in rows])
    for name in head.NAMES:
        own = np.array([_is_for(name, each) for each in rows])
        label = np.array([each.kind == name for each in rows])
        heavy = [WRITTEN_WEIGHT if each.source == "written" else 1.0 for each in rows]
        at = own & learnt
        soft = SOFT if name == head.BROKEN else SOFT_WRITTEN
        model: Any = LogisticRegression(C=soft, max_iter=3000).fit(
            shown[at], label[at], np.array(heavy)[at]
        )
        weights.append(model.coef_[0] / scale)
        shifts.append(float(model.intercept_[0] - middle @ weights[-1]))
        _told(name, model.decision_function(shown), label, own & ~learnt)
    names = ("within", "within_shift", "out", "out_shift", "weights", "shifts")
    found = (*layers, np.array(weights), np.array(shifts))
    tensors: dict[str, Any] = {
        name: np.float16(each) if each.size > 4096 else np.float32(each)
        for name, each in zip(names, found, strict=True)
    }
    out.mkdir(parents=True, exist_ok=True)
    np.savez_compressed(out / head.TENSORS, **tensors)
    about = {
        "encoder": files.digest_of(files.SHIPPED / MANIFEST),
        "trained_on": {
            "sentences": int(learnt.sum()),
            "held_out": int((~learnt).sum()),
            "written": len(written),
            "seed": seed,
        },
    }
    files.write_manifest(out / head.MANIFEST, head.FORMAT, head.VERSION, [head.TENSORS], about)


def _written(data: Path) -> Iterator[tuple[str, str]]:
    """The written sentences that a head can learn from, and what is wrong with them."""
    kinds = {**{name: name for name in head.NAMES}, **KINDS}
    for name in (WRITTEN, EXAM):
        for line in (data / name).read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row["kind"] in kinds and row.get("split", "tune") == "tune":
                yield row["text"], kinds[row["kind"]]


def _is_for(name: str, row: Row) -> bool:
    """Whether a head learns from a row: broken or sound, or what is written against what is not."""
    if name == head.BROKEN:
        return row.kind in (SOUND, name)
    return row.kind != head.BROKEN


def _pieces(rows: Sequence[Row], seed: int) -> list[npt.NDArray[np.float32]]:
    """Train the network that reads pieces: layers as `sentence_head.piece_logits` takes them."""
    from sklearn.neural_network import MLPClassifier

    drawn = np.random.default_rng(seed)
    wide, put = list[Any](), list[Any]()
    for each in rows:
        if each.held or each.kind not in (SOUND, head.BROKEN):
            continue
        seen = each.put | (drawn.random(len(each.put)) < SEEN)
        wide.append(head.windows(each.states)[seen])
        put.append(each.put[seen])
    shown, label = np.vstack(wide), np.concatenate(put)
    middle, scale = shown.mean(0), shown.std(0) + 1e-6
    made: Any = MLPClassifier  # its types say that a batch is text
    network: Any = made(
        (HIDDEN,), alpha=0.01, batch_size=BATCH, max_iter=STEPS, random_state=seed
    ).fit((shown - middle) / scale, label)
    (first, last), (shift, end) = network.coefs_, network.intercepts_
    within = first / scale[:, None]
    return [within, shift - middle @ within, last[:, 0], end[0]]


def _logits(states: Any, layers: Sequence[Any]) -> Any:
    return head.piece_logits(head.windows(states), *layers)


def _told(name: str, logits: Any, label: Any, held: Any) -> None:
    """Print what a head finds in held-out documents: of sound ones a share, of broken ones more."""
    cuts = np.quantile(logits[held & ~label], [0.9, 0.95, 0.975]) if held.any() else []
    of = logits[held & label]
    shares = [round(float((of > cut).mean()), 2) for cut in cuts] if len(of) else "written alone"
    print(f"{name}: {held.sum()} held out; found where 10, 5, 2.5 % of sound ones are: {shares}")
    print("  their logits:", [round(float(each), 2) for each in cuts])


main = starter(fit, __doc__, data="folder of the documents", out="folder to write to", seed="draws")


if __name__ == "__main__":
    main(None)
