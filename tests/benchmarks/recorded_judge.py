"""What the language model's tier does with recorded answers, beside the shipped models.

    # add answers to tests/data/recorded_answers.jsonl.gz
    python tests/benchmarks/recorded_judge.py --answers FOLDER --as READER
    # the half that prompts may be mended by, with the rows that are wrong; then the other half
    python tests/benchmarks/recorded_judge.py --half A --errors
    python tests/benchmarks/recorded_judge.py
    # the questions of the other half by prompts that were mended, for readers
    python tests/benchmarks/recorded_judge.py --ask FOLDER

The client replays the answers from its cache. Precision and recall weigh each row by the number of
questions that it stands for; their intervals are of a bootstrap over documents (95 %).
"""

from __future__ import annotations

import argparse
import gzip
import json
import tempfile
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from evenflow.prompts.loader import SENTENCE, load
from evenflow.transforms.llm import judges
from evenflow.transforms.llm.cascade import select_all
from evenflow.transforms.llm.client.cache import Cache, cache_key
from evenflow.transforms.llm.client.client import Client
from evenflow.transforms.llm.client.settings import ServerSettings
from evenflow.transforms.llm.questions import Question, QuestionOutcome, ask_checked
from evenflow.transforms.measures.stereotypes import detect, indicators
from evenflow.transforms.measures.stereotypes.llm_detector import TieredDetector
from evenflow.transforms.measures.stereotypes.llm_scorer import TieredScorer

ROWS = Path(__file__).parent.parent / "data" / "recorded_answers.jsonl.gz"
# Nothing listens there: what is not in the cache, or not in the schema's form, has no answer
SERVER = ServerSettings("http://127.0.0.1:9", "recorded", attempts=1, deadline=5.0)
KINDS = ("stereotypes", "substitution", "indicators")
DRAWS = 1000  # bootstrap samples of documents
LEAST = 10  # labelled rows of a part whose figures are shown
Row = dict[str, Any]


def read() -> list[Row]:
    """The rows."""
    return [json.loads(line) for line in gzip.decompress(ROWS.read_bytes()).splitlines()]


def write(rows: Sequence[Row]) -> None:
    """Write the rows."""
    lines = [json.dumps(each, ensure_ascii=False) for each in rows]
    ROWS.write_bytes(gzip.compress("\n".join(lines).encode(), mtime=0))


def question(row: Row) -> Question:
    """The question of a row, as the product asks it."""
    slots = dict(row["slots"])
    return Question.of(load(row["kind"]), slots.pop(SENTENCE), slots)


def check(row: Row) -> Callable[[dict[str, Any]], Any]:
    """The product's check of a row's answer."""
    if row["kind"] == "substitution":
        return lambda value: judges.checked(value)[0]
    model = indicators.shipped() if row["kind"] == "indicators" else None
    tier = TieredScorer if model else TieredDetector
    labels = [tuple(each) for each in row["spans"]]
    sentence = row["slots"][SENTENCE]
    own = tier(model, Client(SERVER), select_all)
    return lambda value: own.check(sentence, labels, value)  # type: ignore[arg-type]


def replayed(rows: Sequence[Row]) -> list[QuestionOutcome[Any]]:
    """What the product makes of the recorded answers, read from its cache."""
    asked = [question(each) for each in rows]
    own = SERVER.model, SERVER.temperature, SERVER.max_tokens
    with tempfile.TemporaryDirectory() as folder:
        cache = Cache(Path(folder) / "answers.sqlite")
        answers = [row["answer"] for row in rows]
        keys = [cache_key(*own, each) for each in asked]
        cache.put_many(dict(zip(keys, answers, strict=True)))
        checks = [check(each) for each in rows]
        with Client(SERVER, cache, lambda _: None) as client:
            return ask_checked(client, asked, lambda number, value: checks[number](value))


def figure(rows: Sequence[Row], called: Sequence[bool]) -> str:
    """Precision and recall."""
    label, weight = (np.array([each[key] for each in rows]) for key in ("label", "weight"))
    yes = np.array(called)
    _, code = np.unique([each["doc"] for each in rows], return_inverse=True)
    sums = [
        np.bincount(code, weight * chosen, code.max() + 1) for chosen in (yes & label, yes, label)
    ]
    rng = np.random.default_rng(0)
    at = rng.integers(0, code.max() + 1, (DRAWS, code.max() + 1))
    out: list[str] = []
    for name, of in (("precision", 1), ("recall", 2)):
        with np.errstate(invalid="ignore"):
            draws = sums[0][at].sum(1) / sums[of][at].sum(1)
        low, high = np.nanquantile(draws, [0.025, 0.975]) if sums[of].sum() else (0.0, 1.0)
        n = int((yes, label)[of - 1].sum())
        value = sums[0].sum() / sums[of].sum() if n else float("nan")
        hits = int((yes & label).sum())
        out.append(f"{name} {value:.2f} [{low:.2f}, {high:.2f}] ({hits} of {n})")
    strong = [did for row, did in zip(rows, called, strict=True) if row.get("strength") == 3]
    return ", ".join([*out, f"of strong ones {sum(strong)} of {len(strong)}"][: 2 + bool(strong)])


def parts(row: Row) -> tuple[str, ...]:
    """What a row's figures are shown by: kind of text, attribute, and how the label came about."""
    name = row["slots"].get("attribute") or row["slots"]["attributes"][0]
    by = (f"read {row['read']}",) if "read" in row else ()
    return row["source"].split("-")[0], name, *by


def tiers(row: Row, outcome: QuestionOutcome[Any]) -> dict[str, bool]:
    """Whether each mode calls a sentence a stereotype, or makes an exchange."""
    is_detection, chance, value = row["kind"] == "stereotypes", row["chance"], outcome.value
    least = detect.THRESHOLD if is_detection else row["least"]
    asked = detect.UNSURE[0] <= chance <= detect.UNSURE[1] if is_detection else chance < least
    own = chance >= least
    said = own if value is None else value >= detect.THRESHOLD
    return {"embedded": own, "cascade": said if asked else own, "llm": said}


def show(rows: Sequence[Row], outcomes: Sequence[QuestionOutcome[Any]], errors: bool) -> None:
    """Print the figures of a kind, in all and by source."""
    kind = rows[0]["kind"]
    rejected = Counter(each.reason for each in outcomes if each.value is None)
    print(f"== {kind}: {len(rows)} questions, rejected or without an answer {dict(rejected)}")
    if kind == "indicators":
        agreement(rows, outcomes)
        return
    done = [tiers(*pair) for pair in zip(rows, outcomes, strict=True)]
    same = [each["llm"] == each["embedded"] for each in done]
    print(f"  the language model says the same as the shipped one: {np.mean(same):.2f}")
    of = [("all", *parts(each)) if each["label"] is not None else () for each in rows]
    for name, count in Counter(name for names in of for name in names).items():
        at = [n for n, names in enumerate(of) if name in names]
        for mode in done[0] if count >= LEAST else ():
            told = figure([rows[n] for n in at], [done[n][mode] for n in at])
            print(f"  {name}, {mode}: {told}, n {len(at)}")
    for row, outcome, each in zip(rows, outcomes, done, strict=True) if errors else ():
        if row["label"] is not None and (outcome.value is None or each["llm"] != row["label"]):
            print(json.dumps(row | {"rejected": outcome.reason}, ensure_ascii=False))


def agreement(rows: Sequence[Row], outcomes: Sequence[QuestionOutcome[Any]]) -> None:
    """Print how often the heads find the same indicators."""
    spans = [[tuple(span) for span in each["spans"]] for each in rows]
    heads = indicators.shipped().indicators([each["slots"][SENTENCE] for each in rows], spans)
    same: dict[str, list[bool]] = {}
    for outcome, own in zip(outcomes, heads, strict=True):
        if outcome.value is not None and own is not None:
            for name, found in outcome.value.found.items():
                if name in own.found:
                    same.setdefault(name, []).append(found.value == own.found[name].value)
    for name, each in same.items():
        print(f"  {name}: as the heads {np.mean(each):.2f} (n {len(each)})")


def ask(rows: Sequence[Row], folder: Path) -> None:
    """Write what readers see: for each prompt what comes before a question, and the questions."""
    for kind in dict.fromkeys(each["kind"] for each in rows):
        prompt = load(kind)
        *before, _ = prompt.chat("")
        shown = [f"=== {each['role'].upper()} ===\n{each['content']}" for each in before]
        shown.append(
            f"=== JSON SCHEMA OF THE ANSWER ===\n{json.dumps(dict(prompt.schema), indent=1)}"
        )
        (folder / f"SYSTEM-{kind}.txt").write_text("\n\n".join(shown) + "\n", encoding="utf-8")
    for part in range(0, len(rows), 100):
        lines = [
            {
                "n": each["n"],
                "system": f"SYSTEM-{each['kind']}.txt",
                "user": question(each).messages[-1]["content"],
            }
            for each in rows[part : part + 100]
        ]
        path = folder / f"part-{part // 100 + 1:02}.jsonl"
        path.write_text("".join(json.dumps(each, ensure_ascii=False) + "\n" for each in lines))


def add(folder: Path, reader: str) -> None:
    """Add the answers that a reader wrote (part-NN.jsonl of n and answer) to the rows."""
    rows, said = read(), dict[int, Any]()
    for path in sorted(folder.glob("*.jsonl")):
        said |= {own["n"]: own["answer"] for own in map(json.loads, path.read_text().splitlines())}
    for each in rows:
        if (answer := said.get(each["n"])) is not None:
            each["answer"] = answer if isinstance(answer, str) else json.dumps(answer)
            each |= {"reader": reader, "prompt": load(each["kind"]).digest[:12]}
    write(rows)
    print(f"{len(said)} answers; without one {sum('answer' not in each for each in rows)} rows")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=("A", "B"), default="B")
    parser.add_argument("--kind", choices=KINDS, help="of one prompt alone")
    parser.add_argument("--errors", action="store_true", help="print the rows that are wrong")
    parser.add_argument("--ask", type=Path, help="folder: write the half's questions there")
    parser.add_argument("--answers", type=Path, help="folder: add the answers from there")
    parser.add_argument("--as", dest="reader", default="", help="who answered")
    args = parser.parse_args()
    if args.answers:
        add(args.answers, args.reader)
        return
    own = [each for each in read() if each["half"] == args.half]
    for kind in KINDS if args.kind is None else [args.kind]:
        rows = [each for each in own if each["kind"] == kind]
        if args.ask:
            (args.ask / kind).mkdir(parents=True)
            ask(rows, args.ask / kind)
        elif rows := [each for each in rows if "answer" in each]:
            if other := sum(each["prompt"] != load(kind).digest[:12] for each in rows):
                print(f"{kind}: {other} answers are to another form of the prompt")
            show(rows, replayed(rows), args.errors)


if __name__ == "__main__":
    main()
