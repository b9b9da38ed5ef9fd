"""Fits the model of the forms that words for groups have where they stand.

    python -m evenflow.pipelines.lab.train.forms tests/data OUT

It reads the labels of real documents of which models may learn, and other nouns for their forms;
one document in five is held out. It takes a minute of one core.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from evenflow.pipelines.lab.train.sentences import documents
from evenflow.schemas.config import Config
from evenflow.transforms.lab.generation import form_head as head
from evenflow.transforms.lab.training.start import starter
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.models import files

LEAST = 3  # documents' labels beside which a word stands to be a feature
SOFT, STEPS = 1.0, 60  # inverse of the regularisation
OFTEN, AFTER = 20, 0.2  # a noun is so often there, and so often behind an article
ARTICLES = frozenset(("a", "an", "the"))
NOUNS = 10_000  # places of other nouns
RARE = 0.985  # share of held-out labels that fit at least as well as `most`


def fit(data: Path, out: Path) -> None:
    """Fit the model and write it.

    Args:
        data: The folder with the documents.
        out: The folder to write to.
    """
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression

    lists = Config().word_lists()
    finder, forms = LabelFinder(lists), head.forms_of(lists)
    parts: dict[bool, list[head.Context]] = {False: [], True: []}
    read: list[list[str]] = []
    for text, _, held in documents(data):
        parts[held] += head.contexts(text, finder, forms)
        if not held:
            read.append([each[0].lower() for each in head.TOKEN.finditer(text)])
    nouns = {word: form for word, form in _nouns(read).items() if word not in forms}
    others = [
        head.Context(nouns[word], head.around(words, place, place))
        for words in read
        for place, word in enumerate(words)
        if word in nouns
    ]
    parts[False] += random.Random(0).sample(others, min(NOUNS, len(others)))
    counts = Counter(name for each in parts[False] for name in each.features)
    known = {name for name, number in counts.items() if number >= LEAST}
    vectors: Any = DictVectorizer()
    shown: Any = vectors.fit_transform(
        [dict.fromkeys(known.intersection(each.features), 1) for each in parts[False]]
    )
    model: Any = LogisticRegression(C=SOFT, max_iter=STEPS).fit(
        shown, [each.form for each in parts[False]]
    )
    out.mkdir(parents=True, exist_ok=True)
    tensors: dict[str, Any] = {
        "features": np.array(vectors.feature_names_),
        "weights": model.coef_.T.astype(np.float16),
        "shifts": model.intercept_.astype(np.float32),
    }
    np.savez_compressed(out / head.TENSORS, **tensors)

    def write(most: float) -> None:
        about = {"forms": model.classes_.tolist(), "most": most, "trained_on": len(parts[False])}
        files.write_manifest(out / head.MANIFEST, head.FORMAT, head.VERSION, [head.TENSORS], about)

    write(0)
    fitted = head.FormHead(out)
    misfits = np.array([fitted.misfit(each) for each in parts[True]])
    write(round(float(np.quantile(misfits, RARE)), 3))
    fits = float((misfits == 0).mean())
    print(f"{len(misfits)} labels held out; the likeliest form is right for {fits:.2f} of them")


def _nouns(texts: Sequence[Sequence[str]]) -> dict[str, str]:
    """The nouns of texts whose singular and plural are both common."""
    counts, after = Counter[str](), Counter[str]()
    for words in texts:
        counts.update(words)
        after.update(word for one, word in pairwise(words) if one in ARTICLES)
    out: dict[str, str] = {}
    for word, number in counts.items():
        plural = f"{word}s"
        if min(number, counts[plural]) >= OFTEN and after[word] >= AFTER * number:
            out |= {word: head.SINGULAR, plural: head.PLURAL}
    return out


main = starter(fit, __doc__, data="folder with the documents", out="folder to write to")


if __name__ == "__main__":
    main(None)
