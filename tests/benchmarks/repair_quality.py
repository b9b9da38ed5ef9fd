"""How even repair makes a corpus, and how many of its changes are right: python
tests/benchmarks/repair_quality.py [CORPUS …]

DR: each corpus (JSON lines with «text», by default tests/data/speeches.jsonl.gz) goes through
`evenflow run`'s own steps, one attribute at a time: by the reader (careful) and the first stage
(fast) at several strictnesses, and by BaseCDA, which exchanges every label. The main paper's
figures (table 7) are printed beside them. They are of another corpus, so they are only a reference.

Right: sentences with answers (`--answers`, by default the report halves of
tests/data/cda_fresh.jsonl and cda_domains.jsonl, see cda_README.md), each in its context. All that
may change at a strictness is exchanged. A changed sentence is right if it equals one of the
answers. An answer that the annotator did not think of counts as wrong. Intervals are bootstraps
over sentences, 95 %.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.console import Console
from rich.table import Table

from evenflow.pipelines.engine.files.driver import Run
from evenflow.schemas.config import load
from evenflow.transforms.labels.finder import LabelFinder, uncut
from evenflow.transforms.substitution.counterfactuals import chooser, exchanged
from evenflow.transforms.substitution.judges import ExchangeJudge
from evenflow.transforms.substitution.reading import DocumentJudge
from evenflow.transforms.substitution.sets import Edit, apply
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists import loader

DATA = Path(__file__).parents[1] / "data"
STRICTNESS = (0.3, 0.5, 0.7)
PAPER = {
    "gender": "63 % off, 77 right",
    "age": "6 % off, 78 right",
    "religion": "7 % off, 46 right",
}
DRAWS = 1000


class Decision(NamedTuple):
    """What became of a sentence: whether it was changed, whether that is right, whether it had to
    change.
    """

    changed: bool
    right: bool
    due: bool


def rows(paths: Iterable[Path], split: str) -> Iterator[dict[str, Any]]:
    """Labelled sentences of a split."""
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            row = json.loads(line)
            if row.get("split") == split and "sentence" in row:
                yield row


def decisions(
    labelled: Sequence[dict[str, Any]], strictness: float, judge: ExchangeJudge
) -> list[Decision]:
    """What `explain` would make of each sentence in its context."""
    out: list[Decision] = []
    finders = {name: LabelFinder([loader.load(name)]) for name in PAPER}
    substituters = {name: Substituter([loader.load(name)], name) for name in PAPER}
    for row in labelled:
        name, start = row["attribute"], len(row["before"])
        text, end = row["before"] + row["sentence"] + row["after"], start + len(row["sentence"])
        found = finders[name].find_all(text)
        sentences = trimmed(text, uncut(bounds(text), found).tolist())
        proposed = substituters[name].propose(text, sentences, finders[name].named(found))
        own = [
            each
            for each in proposed
            if any(start <= mention.start < end for mention in each.mentions)
        ]
        wanted = chooser(text, row["group"], row["target"])
        edits = [
            Edit(edit.start - start, edit.end - start, edit.replacement)
            for edit in exchanged(text, own, strictness, wanted, judge).edits
            if start <= edit.start and edit.end <= end
        ]
        said = apply(row["sentence"], sorted(edits))
        answers = [row["sentence"] if answer is None else answer for answer in row["answers"]]
        out.append(
            Decision(
                said != row["sentence"],
                said in answers,
                row["sentence"] not in answers,
            )
        )
    return out


def interval(right: Sequence[bool]) -> str:
    """A share with its n and interval."""
    if not right:
        return "none"
    values = np.array(right, float)
    draws = np.random.default_rng(0).choice(values, (DRAWS, len(values))).mean(axis=1)
    low, high = np.quantile(draws, (0.025, 0.975))
    return f"{values.mean():.0%} of {len(values)} ({low:.0%} to {high:.0%})"


def right_table(labelled: Sequence[dict[str, Any]], judge: ExchangeJudge) -> Table:
    """Right among changed, and what had to change and did, by attribute and strictness."""
    table = Table(
        "attribute",
        "strictness",
        "right among changed",
        "changed of those that had to",
        "decided rightly",
    )
    for name in PAPER:
        own = [row for row in labelled if row["attribute"] == name]
        for strictness in STRICTNESS:
            made = decisions(own, strictness, judge)
            table.add_row(
                name,
                f"{strictness:g}",
                interval([each.right for each in made if each.changed]),
                interval([each.changed for each in made if each.due]),
                interval([each.right for each in made]),
            )
    return table


def dr_table(corpora: Sequence[str]) -> Table:
    """DR before and after by way."""
    table = Table(
        "corpus",
        "attribute",
        "way",
        "DR before",
        "DR after",
        "off",
        "changed",
        "eligible",
        "judged",
        "paper",
    )
    ways = {f"careful {each:g}": {"repair.strictness": each} for each in STRICTNESS}
    ways |= {"fast 0.5": {"repair.judge": "fast"}, "base": {"repair.method": "base"}}
    for corpus in corpora:
        for name in PAPER:
            for way, settings in ways.items():
                with tempfile.TemporaryDirectory() as folder:
                    config = load(
                        None,
                        {"repair.mode": "substitute", "pane.mib": 1024, **settings},
                        only=[name],
                    )
                    [entry] = Run([corpus], Path(folder) / "out", config, 1).go().entries
                own = entry.attributes[name]
                assert own.repair is not None
                before, after = own.repair.score_before.dr, own.pane.dr
                if before is None or after is None:
                    continue
                figures = (
                    str(own.repair.changed),
                    str(own.repair.eligible),
                    str(own.repair.judged),
                )
                off = f"{1 - after / before:.0%}" if before else ""
                table.add_row(
                    Path(corpus).name,
                    name,
                    way,
                    f"{before:.3f}",
                    f"{after:.3f}",
                    off,
                    *figures,
                    PAPER[name],
                )
    return table


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("corpus", nargs="*", default=[str(DATA / "speeches.jsonl.gz")])
    parser.add_argument(
        "--answers",
        type=Path,
        nargs="*",
        default=[DATA / "cda_fresh.jsonl", DATA / "cda_domains.jsonl"],
    )
    parser.add_argument(
        "--first", type=int, metavar="N", help="only the first N sentences with answers, to try it"
    )
    options = parser.parse_args()
    console, judge = Console(width=150), DocumentJudge.shipped()
    console.print(right_table(list(rows(options.answers, "report"))[: options.first], judge))
    console.print(dr_table(options.corpus))


if __name__ == "__main__":
    main()
