"""Measures the judges of exchanges on labelled ones: area, precision and recall by source and
attribute, reliability, speed.

    # documents kept for the report, by the models that ship
    python tests/benchmarks/exchange.py
    # and of sources left out: a file that the training wrote
    python tests/benchmarks/exchange.py --left-out FILE

Labels are those of language models. Intervals are 95 %: of areas by a bootstrap over documents, of
shares Wilson's. Sources are left out in groups of three (`train.data.FOLDS`): four trainings, each
of which saw nothing of any source of its group. Baselines learn from the same rows: logistic
regression on words.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

from evenflow.transforms.models import files
from evenflow.transforms.models.encoder import Encoder
from evenflow.transforms.models.static import FirstStage
from evenflow.transforms.models.train import card, data
from evenflow.transforms.models.train.card import CardJudge, Scored
from evenflow.transforms.models.train.data import Row
from evenflow.transforms.models.train.evaluate import Floats

DATA = Path(__file__).parent.parent / "data"
Judges = Mapping[str, CardJudge]
TOKEN = r"[^\W_]+|[\[\]|]"


def words(learn: Sequence[Row], rows: Sequence[Row]) -> Floats:
    """The probabilities (n,) of logistic regression on words and pairs of words."""
    vectors = TfidfVectorizer(lowercase=False, ngram_range=(1, 2), min_df=2, token_pattern=TOKEN)
    model: Any = LogisticRegression(C=3, max_iter=500)
    model.fit(vectors.fit_transform([_text(row) for row in learn]), _true(learn))
    return model.predict_proba(vectors.transform([_text(row) for row in rows]))[:, 1]


def left_out(rows: Sequence[Row], scores: Path) -> Scored:
    """Rows to learn from, judged by models that have not seen their sources."""
    known = {
        row["id"]: row for row in map(json.loads, scores.read_text(encoding="utf-8").splitlines())
    }
    judged = [row for row in rows if row["id"] in known]
    chances = {
        name: np.array([known[row["id"]][name] for row in judged])
        for name in ("encoder", "first stage")
    }
    chances["words"] = np.zeros(len(judged))
    for held in data.FOLDS:
        at = [number for number, row in enumerate(judged) if data.family(row["source"]) in held]
        if at:
            learn = [row for row in rows if data.family(row["source"]) not in held]
            chances["words"][at] = words(learn, [judged[number] for number in at])
    return Scored(judged, _true(judged), chances)


def in_source(learn: Sequence[Row], rows: Sequence[Row], judges: Judges) -> Scored:
    """Rows kept for the report, judged by models that know other documents of their sources."""
    chances = {name: card.judged(judge, rows) for name, judge in judges.items()}
    return Scored(rows, _true(rows), chances | {"words": words(learn, rows)})


def speeds(rows: Sequence[Row], judges: Judges) -> list[str]:
    """Candidates judged a second and core."""
    out: list[str] = []
    for (name, judge), times in zip(judges.items(), (1, 50), strict=True):
        begin = time.process_time()
        for _ in range(times):
            card.judged(judge, rows)
        out.append(
            f"{name}: {times * len(rows) / (time.process_time() - begin):,.0f} exchanges a second"
            " and core"
        )
    return out


def _text(row: Row) -> str:
    return " ".join(row["windows"])


def _true(rows: Sequence[Row]) -> Any:
    return np.array([row["label"] != data.WRONG for row in rows], bool)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--data", type=Path, default=DATA)
    parser.add_argument("--left-out", type=Path)
    parser.add_argument(
        "--models",
        type=Path,
        default=files.SHIPPED,
        help="folder of the models (default: those that ship)",
    )
    parser.add_argument(
        "--more",
        type=Path,
        help="labelled rows of sources that no model has seen, a JSON row a line",
    )
    args = parser.parse_args()
    judges: Judges = {"encoder": Encoder(args.models), "first stage": FirstStage(args.models)}
    read = data.read(args.data)
    learn, kept = read.part("train").exchanges, read.part("report").exchanges
    tables = [("Documents kept for the report", in_source(learn, kept, judges))]
    if args.left_out:
        tables.append(("Sources left out", left_out(learn, args.left_out)))
    if args.more:
        unseen = [json.loads(line) for line in args.more.read_text(encoding="utf-8").splitlines()]
        tables.append(("Sources that no model has seen", in_source(learn, unseen, judges)))
    for title, scored in tables:
        print(f"## {title}\n\n{card.table(scored)}\n\n{card.bins(scored)}\n")
    print("\n".join(speeds(kept[:200], judges)))


if __name__ == "__main__":
    main()
