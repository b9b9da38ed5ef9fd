"""How many bad sentences the checks of generation reject, and how many good ones they keep.

    python tests/benchmarks/coverage_checks.py [--tune] [--exam FILE] [--alone]

The sentences are those of `generated_exam.jsonl` whose split is `report`: nothing learnt of them,
though they were looked at while the checks were built. With `--tune` they are the others, with the
sentences that pass or fail wrongly. `--exam` names another exam: `generated_exam_fresh.jsonl`, all
for report, was written after the checks. Each is checked as an answer of a language model that was
asked for just the groups that it has, so that no check of these helps. The corpus are the speeches.
`--alone` prints how many sentences each check alone rejects: what leaving it out would change.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from evenflow.schemas.config import Config
from evenflow.transforms.lab.generation import limits
from evenflow.transforms.lab.generation.checks import Against, Checker
from evenflow.transforms.lab.generation.items import RELATION, Draft, Item
from evenflow.transforms.lab.generation.support import Impossible
from evenflow.transforms.lab.generation.templates import Corpus, GroupCounter, Template
from evenflow.transforms.measures.coverage.knowledge import Knowledge
from evenflow.transforms.measures.coverage.threshold import interval

DATA = Path(__file__).parents[1] / "data"
GOOD = "good"
IMPOSSIBLE = (
    "gender=male,pregnant",
    "gender=male,gave birth",
    "gender=female,bearded",
    "religion=judaism,mass",
    "religion=islam,pork",
    "age=old,toddler",
    "age=old,toddlers",
    "toddler,grandmother",
)
# What the corpus says of relations: a relation without a word of its own lets any word pass
TRIPLES = (
    ("employer", "{} worked as a clerk for {}.", "Hal Dunn", "Corn Exchange"),
    ("employer", "In spring {} was hired by {}.", "Amy Lowe", "Tide Works"),
    ("employer", "{} had worked at {} for years.", "Gus Bell", "Glass Row"),
    ("employer", "The owner of {1} hired {0} at once.", "Nan Ross", "Moor Lane"),
    ("place of birth", "{} was born in {}.", "Kit Shaw", "Lowmere"),
    ("place of birth", "The singer {} was born at {}.", "Lou Penn", "High Moss"),
    ("place of birth", "Born in {1}, {0} became a smith.", "Abe Wynn", "Rook End"),
)
RELATIONS = {"employer": "employer", "birthplace": "place of birth"}


def main(tune: bool, exam: Path, alone: bool) -> None:
    """Print the shares."""
    lines = exam.read_text(encoding="utf-8").splitlines()
    rows: list[dict[str, Any]] = [json.loads(each) for each in lines]
    rows = [row for row in rows if row["split"] == ("tune" if tune else "report")]
    config = Config().model_copy(
        update={"stereotypes": Config().stereotypes.model_copy(update={"policy": "flag"})}
    )
    counter = GroupCounter(config, ["gender", "age", "religion"])
    speeches = Corpus.read([str(DATA / "speeches.jsonl.gz")], config, counter).templates
    corpus = Corpus([*speeches, *_triples(), *_before(rows)])
    within = [
        limits.agreement(counter.finder.lists),
        *limits.by_heads(),
        limits.stereotype(config),
    ]
    against = Against(
        corpus, counter, _knowledge(rows), within, [Impossible.parse(each) for each in IMPOSSIBLE]
    )
    checker = Checker(against, prompted=True)
    rejected, numbers = Counter[str](), Counter[str]()
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    only: defaultdict[str, Counter[bool]] = defaultdict(Counter)
    for number, row in enumerate(rows):
        draft, item = _asked(row, number, counter, against.knowledge)
        failing = _failing(checker, draft, item) if alone else set[str]()
        if len(failing) == 1:
            only[failing.pop()][row["kind"] == GOOD] += 1
        _, reason = checker.check(draft, item)
        numbers[row["kind"]] += 1
        rejected[row["kind"]] += reason is not None
        if reason is not None:
            reasons[row["kind"]][reason] += 1
        if tune and (reason is None) != (row["kind"] == GOOD):
            print(row["kind"], reason, row["text"])
    for kind in numbers:
        share(f"{kind}: rejected", rejected[kind], numbers[kind])
        print("   ", dict(reasons[kind].most_common()))
    bad = [kind for kind in numbers if kind != GOOD]
    share("bad: rejected", sum(rejected[each] for each in bad), sum(numbers[each] for each in bad))
    share("good: kept", numbers[GOOD] - rejected[GOOD], numbers[GOOD])
    for reason, each in sorted(only.items()):
        print(f"{reason} alone: rejects {each[False]} bad, {each[True]} good")


def _failing(checker: Checker, draft: Draft, item: Item) -> set[str]:
    """All checks that a sentence fails, where `check` names the first."""
    spans = checker._spans(draft)  # pyright: ignore[reportPrivateUsage]
    found = checker._checks(  # pyright: ignore[reportPrivateUsage]
        replace(draft, spans=spans or {}), item, spans is not None
    )
    return {reason for reason, passes, _ in found if not passes}


def _asked(
    row: Mapping[str, Any], number: int, counter: GroupCounter, knowledge: Knowledge | None
) -> tuple[Draft, Item]:
    """A sentence as an answer, and the item that asks for what it has."""
    text, fact, fields = row["text"], None, {}
    if "relation" in row:
        relation = RELATIONS[row["relation"]]
        facts = knowledge.facts(relation) if knowledge is not None else []
        fact = next(each for each in facts if each.subject.name == row["subject"])
        fields = {RELATION: relation}
    records = counter.records(text)
    groups = {
        name: each[0]
        for name, each in (records[0] if len(records) == 1 else {}).items()
        if len(each) == 1 and each[0] is not None
    }
    words = [] if fact else [each.label for each in counter.finder.find(text)]
    item = Item(number, 1, {**groups, **fields}, {}, {} if fact else groups, {}, fields)
    return Draft(text, "", "", fact, None if fact is None else text, asked=words), item


def _triples() -> Iterator[Template]:
    for relation, text, subject, other in TRIPLES:
        filled = text.format(subject, other)
        spans = {
            side: (at := filled.index(name), at + len(name))
            for side, name in (("subject", subject), ("object", other))
        }
        yield Template(filled, "", {}, {}, relation, spans)


def _before(rows: list[dict[str, Any]]) -> Iterator[Template]:
    """What is there already, of near duplicates."""
    return (Template(row["before"], "", {}, {}) for row in rows if "before" in row)


def _knowledge(rows: list[dict[str, Any]]) -> Knowledge:
    """A knowledge base of the facts that were asked for."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "kb.csv")
        names = sorted({*RELATIONS.values()})
        lines = [",".join(("id", "name", *names))]
        for number, row in enumerate(row for row in rows if "relation" in row):
            own = [row["object"] if RELATIONS[row["relation"]] == name else "" for name in names]
            lines.append(",".join((str(number), row["subject"], *own)))
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return Knowledge.read(path)


def share(said: str, part: int, whole: int) -> None:
    """Print a share with its interval."""
    low, high = interval(part, whole, whole, 0.95)
    print(f"{said} {part / whole:.2f} [{low:.2f}, {high:.2f}] ({part} of {whole})")


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--tune", action="store_true")
    parser.add_argument("--exam", type=Path, default=DATA / "generated_exam.jsonl")
    parser.add_argument("--alone", action="store_true")
    given = parser.parse_args()
    main(given.tune, given.exam, given.alone)
