"""SentEval: what can be read from frozen vectors of sentences (Conneau and Kiela 2018).

Eight of its tasks. A logistic regression learns from the vectors alone. Opinions (MR, CR, MPQA)
and subjectivity (SUBJ): accuracy by ten folds. SST-2 and questions (TREC): accuracy on the test
part. Pairs have the features |u - v| and u · v: accuracy for paraphrases (MRPC), Pearson's
correlation for similarity (STS-B). The suite's own figure is the mean over the tasks.

The penalty is chosen as SentEval does: by ten folds of what is learnt from (MR, CR, SUBJ, MPQA,
TREC, MRPC), or on the development part (SST-2, STS-B), which is not learnt from.

The texts do not ship: the licences of most of them are not stated. A task is asked if its files are
in a folder `senteval` of --benchmark-data.

Limits: with `--items` a task may be left with too few texts, and is left out; the intervals are
over texts, not over what a classifier would learn from others.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenflow.transforms.lab.benchmarks import probing
from evenflow.transforms.lab.benchmarks.data import BenchmarkDataError, Data
from evenflow.transforms.lab.benchmarks.suite import HEADLINE, Floats, Item, Measure, Row, Suite
from evenflow.transforms.models.encoding import SentenceEncoder

FOLDER = "senteval/"
LEAST = 20  # texts of a task; with fewer it is left out
TRAIN, DEV, TEST = "train", "dev", "test"
PARTS = {1: (TEST,), 2: (TRAIN, TEST), 3: (TRAIN, DEV, TEST)}  # by the number of a task's files


@dataclass(frozen=True)
class Task:
    """A task.

    Attributes:
        files: Its files: one whose texts are all held out in turn; train and test; or train,
            development and test.
        columns: Which columns of a table have the label and the texts; empty: each line has a
            label, a blank and a text.
        header: Whether the first line has the columns' names.
        graded: Whether labels are scores.
    """

    files: tuple[str, ...]
    columns: tuple[int, ...] = ()
    header: bool = False
    graded: bool = False


TASKS = {
    "mr": Task(("MR_rt-polarity.txt",)),
    "cr": Task(("CR_custrev.txt",)),
    "subj": Task(("SUBJ.txt",)),
    "mpqa": Task(("MPQA.txt",)),
    "sst": Task(("SST2_train.txt", "SST2_dev.txt", "SST2_test.txt")),
    "trec": Task(("TREC_train.txt", "TREC_test.txt")),
    "mrpc": Task(("MRPC_train.tsv", "MRPC_test.tsv"), (0, 3, 4), header=True),
    "stsb": Task(("STSB_train.tsv", "STSB_dev.tsv", "STSB_test.tsv"), (4, 5, 6), graded=True),
}
NEEDED = (
    "in its folder senteval, the files of one or more tasks: "
    + "; ".join(f"{name}: {', '.join(task.files)}" for name, task in TASKS.items())
    + "; a line has a label, a blank and a text, those of .tsv are the tables of MRPC and STS-B"
)


def read(data: Data) -> list[Item]:
    """The texts of all tasks that are there; the kind is the task."""
    found = [
        item
        for name, task in TASKS.items()
        if any(data.find(FOLDER + file) for file in task.files)
        for item in _items(data, name, task)
    ]
    if not found:
        data.text(FOLDER + TASKS["mr"].files[0], NEEDED)
    return found


def _items(data: Data, name: str, task: Task) -> Iterator[Item]:
    """A task's texts."""
    for file, part in zip(task.files, PARTS[len(task.files)], strict=True):
        # Not splitlines: texts of MR and SUBJ hold U+0085
        lines = data.text(FOLDER + file, NEEDED).split("\n")
        for number, line in enumerate(lines[task.header :], 1 + task.header):
            if not line.strip():
                continue
            try:
                label, *texts = _parts(line, task)
            except (ValueError, IndexError) as error:
                raise BenchmarkDataError(
                    f"{FOLDER}{file}, line {number}: a label and"
                    f" {'two texts were' if task.columns else 'a text were'} expected"
                ) from error
            content = {"texts": texts, "label": label, "part": part}
            yield Item(f"{file.split('.')[0]}-{number}", content, kind=name)


def _parts(line: str, task: Task) -> tuple[str, ...]:
    """Label and texts of a line. Raises ValueError, IndexError."""
    if not task.columns:
        label, text = line.split(" ", 1)
        return label, text.strip()
    cells = line.split("\t")
    label, *texts = (cells[column].strip() for column in task.columns)
    return (str(float(label)) if task.graded else label, *texts)


def prepare(model: SentenceEncoder, item: Item, seed: int) -> Item:
    """The item itself."""
    return item


def ask(model: SentenceEncoder, prepared: Sequence[Item]) -> list[dict[str, Any]]:
    """The vectors of each item's texts, with its label; `finish` learns from them."""
    vectors = model.vectors([text for each in prepared for text in each.content["texts"]])
    return [
        {
            "values": {
                "vectors": [_packed(vectors[text]) for text in each.content["texts"]],
                "label": each.content["label"],
                "part": each.content["part"],
            }
        }
        for each in prepared
    ]


def finish(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The lines with what was predicted of those that are tested, without the vectors."""
    done: dict[str, dict[str, Any]] = {}
    for name, task in TASKS.items():
        own = [row for row in rows if row["kind"] == name and row["values"]]
        if len(own) >= LEAST:
            done.update(_predicted(own, task))
    return [{**row, "values": done.get(row["id"])} if row["values"] else row for row in rows]


def _predicted(rows: Sequence[Mapping[str, Any]], task: Task) -> Iterator[tuple[str, Any]]:
    """The values of a task's lines, by their ids; none where too few are left."""
    values = [row["values"] for row in rows]
    vectors = np.stack([_features([_unpacked(each) for each in own["vectors"]]) for own in values])
    labels = np.array([own["label"] for own in values])
    parts = np.array([own["part"] for own in values])
    tested = parts == TEST
    said = labels.astype(object)
    if len(task.files) == 1:
        if np.unique(labels, return_counts=True)[1].min() < probing.FOLDS:
            return
        said = probing.by_folds(vectors, labels)
    else:
        train, dev = parts == TRAIN, parts == DEV
        alone = DEV in PARTS[len(task.files)] and not dev.any()
        if not tested.any() or alone or len(set(labels[train])) < 2:
            return
        if task.graded:
            scores = labels.astype(float)
            said[tested] = probing.similarity(
                vectors[train], scores[train], vectors[tested], (vectors[dev], scores[dev])
            )
        else:
            held = (vectors[dev], labels[dev]) if dev.any() else None
            said[tested] = probing.predicted(vectors[train], labels[train], vectors[tested], held)
    for row, label, guess, test in zip(rows, labels, said, tested, strict=True):
        if not test:
            yield row["id"], {"tested": 0}
        elif task.graded:
            yield row["id"], {"tested": 1, "score": float(label), "said": round(float(guess), 6)}
        else:
            yield row["id"], {"tested": 1, "correct": int(label == guess)}


def _features(vectors: Sequence[Floats]) -> Floats:
    """A text's vector (D,), or |u - v| and u · v of a pair (2 D,)."""
    if len(vectors) == 1:
        return vectors[0]
    one, other = vectors
    return np.concatenate([np.abs(one - other), one * other])


def _packed(vector: Floats) -> str:
    """A vector as text: base64 of numbers of 4 bytes, a third of what decimals need."""
    return base64.b64encode(vector.astype("<f4").tobytes()).decode()


def _unpacked(text: str) -> Floats:
    """A vector from its text."""
    return np.frombuffer(base64.b64decode(text), "<f4").astype(float)


def measures(kinds: Sequence[str]) -> list[Measure]:
    """The mean over the tasks, and the figure of each."""
    tasks = [name for name in TASKS if name in kinds]

    def of(row: Row, wanted: Sequence[str]) -> tuple[float, ...] | None:
        own = row["values"]
        if row["kind"] not in wanted or own is None or not own["tested"]:
            return None
        x, y = (own["score"], own["said"]) if "score" in own else (own["correct"], 0.0)
        filled = (1.0, x, y, x * x, y * y, x * y)
        at = wanted.index(row["kind"])
        return (*(0.0,) * 6 * at, *filled, *(0.0,) * 6 * (len(wanted) - at - 1))

    def average(means: Floats, _: Floats) -> Floats:
        blocks = np.split(means, len(tasks), axis=1)
        return np.mean(
            [figure(block, TASKS[name].graded) for block, name in zip(blocks, tasks, strict=True)],
            axis=0,
        )

    found = [
        Measure(
            name,
            lambda row, name=name: of(row, [name]),
            lambda means, _, graded=TASKS[name].graded: figure(means, graded),
            range=(-1.0, 1.0) if TASKS[name].graded else (0.0, 1.0),
        )
        for name in tasks
    ]
    return [Measure(HEADLINE, lambda row: of(row, tasks), average, range=(-1.0, 1.0)), *found]


def figure(means: Floats, graded: bool) -> Floats:
    """A task's figure.

    Args:
        means: Means over items of: is of this task, x, y, x², y², x · y (B, 6); 0 for others.
        graded: Whether it is the correlation of x and y, else the mean of x.

    Returns:
        The figures (B,); 0 where nothing varies or the task has no item.
    """
    with np.errstate(invalid="ignore", divide="ignore"):
        x, y, xx, yy, xy = (means[:, 1:] / means[:, :1]).T
        found = (xy - x * y) / np.sqrt((xx - x * x) * (yy - y * y)) if graded else x
    return np.where(np.isfinite(found), found, 0.0)


SUITE = Suite(
    name="senteval",
    title="SentEval",
    source="Conneau and Kiela 2018",
    data="texts of MR, CR, SUBJ, MPQA, SST-2, TREC, MRPC, STS-B; not shipped",
    formula="mean over tasks of accuracy (STS-B: Pearson's r) of a logistic regression",
    limits="the interval is over texts, with the classifier as it was learnt",
    models=("encoder",),
    read=read,
    prepare=prepare,
    ask=ask,
    measures=measures,
    finish=finish,
)
