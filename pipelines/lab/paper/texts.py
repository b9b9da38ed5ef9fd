"""The documents of an experiment: as they came, as changes leave them, and what an arm reads."""

from __future__ import annotations

import hashlib
import zlib
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.gates.ledger.files import canonical, read_entries
from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.lab.paper.settings import Arm, Paper, Text
from evenflow.pipelines.lab.train.errors import TrainInputError
from evenflow.pipelines.lab.train.rows import Listed, Row, select
from evenflow.schemas.config import load
from evenflow.schemas.documents import WEIGHT, leaning
from evenflow.schemas.ledger import Score
from evenflow.transforms.lab.masking.interventions import COUNTERFACTUAL, Intervention
from evenflow.transforms.lab.masking.sentences import SentenceFinder
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.measures.representation import dr
from evenflow.transforms.substitution.base_cda import draw
from evenflow.transforms.text.sentences import bounds, trimmed

Floats = npt.NDArray[np.float64]
Ints = npt.NDArray[np.int64]

ID, TEXT = "id", "text"  # columns of a gate's output
# No pane is blocked: what arms differ in is the text, and not which panes were accepted
OPEN = {"gate.warn": 1.0, "gate.block": 1.0, "gate.most_dead": 1.0}
HIGH = 0.9  # quantile of the bias score above which a document is selected
ORIGINAL, GATE = "original", "gate"


class Texts:
    """N documents after each change that an arm of an experiment reads.

    Attributes:
        words: The word lists of the attributes.
    """

    def __init__(self, paper: Paper):
        self._paper = paper
        self.folder = Path(paper.output) / "data"
        own: dict[str, Any] = {}
        selected = {arm.select for arm in paper.arms.values()}
        if "weights" in selected:
            own["repair"] = {"mode": "weight"}
        if selected & {"high", "telling"}:
            own["bias_score"] = {"mode": "measure"}
        self.words = self.configuration({}).word_lists()
        found = self._gated(own)
        self.ids: list[str] = found[ID]
        self._made: dict[str, list[str]] = {ORIGINAL: found[TEXT]}
        self._counted: dict[str, list[Floats]] = {}
        ones = np.ones(len(self.ids))
        self._weights = np.array(found[WEIGHT.name]) if "repair" in own else ones
        scores = found.get(leaning(paper.attributes[0]).name, [])
        self._scores = np.array([each or 0.0 for each in scores]) if scores else 0 * ones

    def configuration(self, gate: dict[str, Any]) -> Any:
        """The configuration of a gate that sets nothing aside. Raises ConfigError."""
        return load(None, {**gate, **OPEN}, self._paper.attributes)

    def key(self, arm: Arm, name: Text) -> str:
        """The name of a text of an arm; arms with one gate share its text."""
        if name == "copies":
            return ORIGINAL
        return self.place(arm.gate).name if name == GATE else name

    def text(self, arm: Arm, name: Text) -> list[str]:
        """The documents after a change."""
        key = self.key(arm, name)
        if key not in self._made:
            if name == GATE:
                found = self._gated(arm.gate)
                own = dict(zip(found[ID], found[TEXT], strict=True))
                self._made[key] = [own[identity] for identity in self.ids]
            else:
                self._exchange()
        return self._made[key]

    def _exchange(self) -> None:
        """Make the texts of sentences that name a group: exchanged, half of them, and alone."""
        words = self.words[0]
        finder, change = SentenceFinder(words), Intervention(COUNTERFACTUAL, words)
        made: list[tuple[str, str, str]] = []
        for text in self._made[ORIGINAL]:
            every, half, alone = list[str](), list[str](), list[str]()
            at = 0
            for each in finder.find(text):
                before, changed = text[at : each.start], change(each).text
                every += [before, changed]
                half += [before, each.text if draw(each.text, each.start, 2) else changed]
                alone.append(each.text)
                at = each.start + len(each.text)
            made.append(
                ("".join([*every, text[at:]]), "".join([*half, text[at:]]), " ".join(alone))
            )
        for number, name in enumerate(("exchanged", "half", "relevant")):
            self._made[name] = [each[number] for each in made]

    def counts(self, arm: Arm, name: Text) -> list[Floats]:
        """Mentions of the groups in the documents after a change, (N, k) of each attribute."""
        key = self.key(arm, name)
        if key not in self._counted:
            finder = LabelFinder(self.words)
            found = [np.zeros((len(self.ids), len(words.groups))) for words in self.words]
            places = {
                (words.attribute, group): (at, number)
                for at, words in enumerate(self.words)
                for number, group in enumerate(words.groups)
            }
            for number, text in enumerate(self.text(arm, name)):
                for each in finder.find(text):
                    at, group = places[each.attribute, each.group]
                    found[at][number, group] += 1
            self._counted[key] = found
        return self._counted[key]

    def taken(
        self, name: str, seed: int, draw: int = 0, own: Ints | None = None, evidence: Any = None
    ) -> dict[Text, Floats]:
        """How often an arm reads each document after each change.

        `own`: The documents that there are; None: all. `evidence`: How much each says what is
        measured.
        """
        arm = self._paper.arms[name]
        random = np.random.default_rng([seed, zlib.crc32(name.encode()), draw])
        rows = np.arange(len(self.ids)) if own is None else own
        chosen = np.ones(len(rows))
        if arm.select == "random":
            chosen = (random.random(len(rows)) < arm.share).astype(float)
        elif arm.select == "weights":
            chosen = self._weights[rows]
        elif arm.select in ("high", "telling"):
            scores = self._scores[rows]
            chosen = (scores > np.quantile(scores, HIGH)).astype(float)
            if arm.select == "telling":
                chosen, number = 0 * chosen, int(chosen.sum())
                chosen[np.argsort(-evidence)[:number]] = 1
        elif arm.select is not None:
            named = self.counts(arm, "original")[0][rows].any(axis=1)
            chosen = (named if arm.select == "relevant" else ~named).astype(float)
        if arm.drawn:
            chosen = random.permutation(chosen)
        parts = {"all": np.ones(len(rows)), "selected": chosen, "others": 1 - chosen}
        return {text: parts[part] for text, part in arm.texts.items()}

    def read(self, name: str, seed: int) -> Listed:
        """What a language model is trained on. Raises TrainInputError if there is nothing."""
        arm = self._paper.arms[name]
        found = [
            Row(f"{identity}\0{number}" if number else identity, text, float(weight), number > 0)
            for number, (key, weights) in enumerate(self.taken(name, seed).items())
            for identity, text, weight in zip(self.ids, self.text(arm, key), weights, strict=True)
            if weight > 0 and text
        ]
        if not found:
            raise TrainInputError(f"arm {name}: no document to train on")
        return Listed(f"arm {name}", found)

    def mined(self, path: Path) -> Listed:
        """What a language model is trained on, of sentences that were mined."""
        lines = map(orjson.loads, path.read_bytes().splitlines())
        return Listed(
            str(path),
            [
                Row(each["id"], each["text"], 1.0, False, tuple(map(tuple, each["spans"])))
                for each in lines
            ],
        )

    def table(self, name: str, seed: int) -> dict[str, Any]:
        """What an arm changes of the data, for people (the main paper's Tables 7 and 8)."""
        arm, taken = self._paper.arms[name], self.taken(name, seed)
        read = np.array(sum(taken.values()))
        changed, sentences = 0, 0
        for key, weights in taken.items():
            if self.key(arm, key) != ORIGINAL:
                pairs = zip(self._made[ORIGINAL], self.text(arm, key), weights, strict=True)
                new = [(a, b) for a, b, weight in pairs if weight > 0 and a != b]
                changed += len(new)
                sentences += sum(len(_sentences(b) - _sentences(a)) for a, b in new)
        scores: dict[str, Any] = {}
        for at, words in enumerate(self.words):
            counts = sum(
                weights[:, None] * self.counts(arm, key)[at] for key, weights in taken.items()
            )
            own: Score = dr.score(dr.sums(np.array(counts)))  # type: ignore[arg-type]
            totals = np.array(counts).sum(axis=0)
            scores[words.attribute] = {
                "words": dict(zip(words.groups, totals.round(1).tolist(), strict=True)),
                **{key: getattr(own, key) for key in ("dr", "low", "high")},
            }
        effective = float(read.sum() ** 2 / max((read**2).sum(), 1e-9))
        return {
            "documents": int((read > 0).sum()),
            "changed": changed,
            "sentences": sentences,
            "effective": round(effective, 1),
            "attributes": scores,
        }

    @cached_property
    def digest(self) -> str:
        """A SHA-256 of the documents as they came."""
        own = (self.ids, self._made[ORIGINAL], self._weights.tolist(), self._scores.tolist())
        return hashlib.sha256(repr(own).encode("utf-8", "surrogatepass")).hexdigest()

    def place(self, kind: object) -> Path:
        """Where data of a kind are, such as a gate's output or mined sentences."""
        return self.folder / hashlib.sha256(canonical(kind)).hexdigest()[:8]

    def _gated(self, gate: dict[str, Any]) -> dict[str, list[Any]]:
        """The columns of a gate's output that are used; it is made once."""
        inputs, output = self._paper.input, self.place(gate)
        Run(inputs, output, self.configuration(gate)).go()
        if not read_entries(output):
            raise TrainInputError(f"{', '.join(inputs)}: no document to train on")
        tables = [
            pq.read_table(output / folder / each.name) for folder, each in select(output).shards
        ]
        return pa.concat_tables(tables, promote_options="default").to_pydict()


def _sentences(text: str) -> set[str]:
    """The sentences of a text."""
    return {text[start:end] for start, end in trimmed(text, bounds(text).tolist())}
