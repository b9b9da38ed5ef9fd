"""Draws documents for annotators who read them whole, and reads their answers.

    # numbered documents in batches, and what the numbers stand for
    python tests/benchmarks/document_labels.py draw CORPUS… --to FOLDER
    # more of the same corpora, with further numbers
    python tests/benchmarks/document_labels.py draw CORPUS… --after documents.jsonl.gz --to FOLDER
    # how often two annotators agree
    python tests/benchmarks/document_labels.py agree
    # answers of annotators, checked; with --after they join what is labelled already
    python tests/benchmarks/document_labels.py read FOLDER ANSWERS… --to documents.jsonl.gz

A corpus is a .jsonl.gz file of {"id", "source" or "kind", "text"}, or UD's .conllu.gz. Every
mention of gender, age and religion has a number. The annotator says which mentions are one person
or group (an entity), who that is, and whether the document stays right if the entity changes
(docs/document_guideline.md). Of age and religion the new word is shown.
"""

from __future__ import annotations

import argparse
import gzip
import hashlib
import itertools
import json
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from evenflow.transforms.lab.training.evaluate import share
from evenflow.transforms.labels.finder import LabelFinder, uncut
from evenflow.transforms.models.heads import REASONS as OF_WINDOWS
from evenflow.transforms.substitution.substituter import Substituter
from evenflow.transforms.text.sentences import bounds, trimmed
from evenflow.wordlists.loader import load

ATTRIBUTES = ("gender", "age", "religion")
SEED = "2026-11"
LONGEST = 6000  # characters of a document that are shown: about three pages
BATCH = 30_000  # characters of a batch
# Documents of each source; the rest of a source is left for those who come later
DRAWN = {
    "reddit": 400, "movie_reviews": 250, "abc": 300, "speeches": 150, "assistant": 200,
    "instruction": 250, "encyclopaedia": 60, "encyclopaedia-tokenised": 110, "fiction": 320,
    "professions": 250, "written": 2000, "school-sums": 350, "web": 160, "ewt": 170, "gum": 61,
}  # fmt: skip
# The second draw: more of the kinds in which people without a name are frequent
DRAWN_AFTER = {
    "chat": 1100, "reddit": 600, "ewt": 300, "fiction": 100, "speeches": 50, "school-sums": 60,
}  # fmt: skip
# Texts whose owners have not said that they may be passed on: no model learns from them, and their
# rows have offsets and digests alone
UNSEEN = ("abc", "movie_reviews", "web")
SECOND = "documents_second.jsonl.gz"
NEAR = 0.3  # share of common runs of 8 words from which two documents are near-duplicates
Row = dict[str, Any]
MARK = re.compile(r"(?P<attribute>[gar])(?P<first>\d+)(?:-[gar]?(?P<last>\d+))?")
WHO = "NPGCFKX"  # see the guideline
PERSONS = "NPGCF"  # a person or people of the group
LABELS = "raw"
REASONS = frozenset((*OF_WINDOWS, "stereo"))


def hashed(*parts: object) -> int:
    """A number of 64 bits that depends on some values."""
    name = "\0".join(map(str, parts))
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")


def documents(path: Path) -> Iterator[tuple[str, str, str]]:
    """The documents of a file: source, id and text."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        if ".conllu" in path.name:
            yield from _conllu(lines)
            return
        for row in map(json.loads, lines):
            yield row.get("source") or row["kind"], row["id"], row["text"]


def _conllu(lines: Iterator[str]) -> Iterator[tuple[str, str, str]]:
    """The documents of a treebank, a paragraph a line."""
    name, parts = "", [""]
    for line in lines:
        if line.startswith("# newdoc id = "):
            if name:
                yield "ewt-" + name.split("-")[0], name, "\n".join(parts).strip()
            name, parts = line[14:].strip(), [""]
        elif line.startswith("# newpar"):
            parts.append("")
        elif line.startswith("# text = "):
            parts[-1] = f"{parts[-1]} {line[9:].strip()}".strip()
    yield "ewt-" + name.split("-")[0], name, "\n".join(parts).strip()


def family(source: str) -> str:
    """The name under which a source is drawn."""
    if source in ("inaugural", "state_union"):
        return "speeches"
    return source.split("-")[0] if source.startswith(("gum-", "ewt-")) else source


def passages(identity: str, text: str) -> Iterator[tuple[int, int]]:
    """A document, or passages of a long one: at most three, whole lines or sentences."""
    if len(text) <= LONGEST * 1.3:
        yield 0, len(text)
        return
    count = min(3, len(text) // LONGEST)
    for number in range(count):
        room = len(text) // count
        start = number * room + hashed(SEED, identity, number) % max(1, room - LONGEST)
        start = max(text.rfind("\n", 0, start), text.rfind(". ", 0, start) + 1, 0)
        yield start, max(text.rfind(". ", start, start + LONGEST) + 1, start + LONGEST // 2)


class Shown:
    """Numbers the mentions of documents and shows what would stand in their place."""

    def __init__(self) -> None:
        self._lists = [load(name) for name in ATTRIBUTES]
        self._finder = LabelFinder(self._lists)
        self._makers = {name: Substituter(self._lists, name) for name in ATTRIBUTES}

    def mentions(self, identity: str, text: str) -> list[Row]:
        """The mentions of a text: number, offsets, group; of age and religion the target."""
        every = self._finder.find_all(text)
        named = self._finder.named(every)
        sentences = trimmed(text, uncut(bounds(text), every).tolist())
        out: list[Row] = []
        for name in ATTRIBUTES:
            new: dict[int, tuple[str, str]] = {}
            if name != "gender":
                for own in self._makers[name].propose(text, sentences, named):
                    if own.edits:
                        target = own.targets[hashed(identity, name) % len(own.targets)]
                        new |= {
                            edit.start: (target, edit.replacement) for edit in own.edits[target]
                        }
            own = sorted((m for m in named if m.attribute == name), key=lambda m: m.start)
            for number, each in enumerate(own, 1):
                row = {"attribute": name, "number": number, "start": each.start, "end": each.end}
                row["group"] = each.group
                if each.start in new:
                    row["target"], row["new"] = new[each.start]
                out.append(row)
        return sorted(out, key=lambda row: row["start"])


def marked(text: str, mentions: Sequence[Row]) -> str:
    """A text with its mentions numbered: he{1}, kids{a2>retirees}."""
    out, at = [], 0
    for row in mentions:
        letter = "" if row["attribute"] == "gender" else row["attribute"][0]
        new = f">{row['new']}" if "new" in row else ""
        out += [text[at : row["end"]], f"{{{letter}{row['number']}{new}}}"]
        at = row["end"]
    return "".join([*out, text[at:]])


def labelled(path: Path) -> list[Row]:
    """The rows of a file of labelled documents."""
    return list(map(json.loads, gzip.decompress(path.read_bytes()).splitlines()))


def draw(corpora: Sequence[Path], folder: Path, before: Sequence[Row]) -> None:
    """Draw documents that are not among those of before, and write batches."""
    shown = Shown()
    known = {(row["id"], row["start"]) for row in before}
    begin = max((row["number"] + 1 for row in before), default=0)
    found: dict[str, list[tuple[int, Row, str]]] = {}
    for path in corpora:
        for source, identity, text in documents(path):
            for start, end in passages(identity, text):
                if (identity, start) in known:
                    continue
                place = hashed(SEED, source, identity, start)
                row = {"id": identity, "source": source, "start": start, "end": end}
                found.setdefault(family(source), []).append((place, row, text[start:end]))
    chosen: list[tuple[int, Row, str]] = []
    for name, wanted in (DRAWN_AFTER if before else DRAWN).items():
        own = 0
        for place, row, text in sorted(found.get(name, ()), key=lambda each: each[0]):
            row["mentions"] = shown.mentions(row["id"], text)
            if own < wanted and row["mentions"]:
                row["sha256"] = hashlib.sha256(text.encode()).hexdigest()
                chosen.append((place, row, text))
                own += 1
        print(f"{name}: {own} of {len(found.get(name, ()))}")
    chosen.sort(key=lambda each: each[0])
    (folder / "batches").mkdir(parents=True, exist_ok=True)
    batch, size, number = [], 0, 0
    with (folder / "key.jsonl").open("w", encoding="utf-8") as key:
        for place, (_, row, text) in enumerate(chosen, begin):
            row["number"], row["text"] = place, text
            key.write(json.dumps(row, ensure_ascii=False) + "\n")
            batch.append(f"@{place} ({row['source']})\n{marked(text, row['mentions'])}\n")
            size += len(text)
            if size > BATCH or place == begin + len(chosen) - 1:
                (folder / "batches" / f"{number:03d}.txt").write_text("\n".join(batch), "utf-8")
                batch, size, number = [], 0, number + 1
    print(f"{len(chosen)} documents in {number} batches")
    print(Counter(m["attribute"] for _, row, _ in chosen for m in row["mentions"]))


def parse(line: str) -> tuple[str, list[tuple[str, int]], str, str]:
    """One answer: who, mentions, label, reason."""
    words = line.split()
    mentions: list[tuple[str, int]] = []
    letter = "g"
    for part in words[0].split(","):
        match = MARK.fullmatch(part if part[0] in "gar" else letter + part)
        if match is None:
            raise ValueError(f"{part!r} is no mention")
        letter = match["attribute"]
        first = int(match["first"])
        mentions += [(letter, each) for each in range(first, int(match["last"] or first) + 1)]
    who = words[1]
    if len(words) == 3 and words[2] in REASONS:
        words.insert(2, "w")
    label = words[2] if len(words) > 2 else "w"
    reason = words[3] if len(words) > 3 else {"N": "named", "X": "sense"}.get(who, "")
    if who not in WHO or label not in LABELS or (reason and reason not in REASONS):
        raise ValueError(f"{line!r}: unknown kind, label or reason")
    if len(words) < 3 and who not in "NX":
        raise ValueError(f"{line!r}: a label is missing")
    if label == "w" and not reason:
        raise ValueError(f"{line!r}: a reason is missing")
    return who, mentions, label, reason


def read(folder: Path, answers: Sequence[Path]) -> tuple[list[Row], list[str]]:
    """The labelled documents, and what is wrong with answers."""
    with (folder / "key.jsonl").open(encoding="utf-8") as lines:
        rows = {row["number"]: row for row in map(json.loads, lines)}
    out: list[Row] = []
    wrong: list[str] = []
    for path in answers:
        for chunk in re.split(r"^@", path.read_text("utf-8"), flags=re.MULTILINE)[1:]:
            head, *lines = chunk.strip().splitlines()
            row = rows[int(head.split()[0])]
            places = {(m["attribute"][0], m["number"]): m for m in row["mentions"]}
            entities, stereotypes, seen = [], [], Counter[tuple[str, int]]()
            for line in lines:
                try:
                    if line.startswith("S "):
                        group, strength, *words = line[2:].split(" ", 2)
                        stereotypes.append([group, int(strength), words[0].strip('"')])
                    elif line.strip():
                        who, mentions, label, reason = parse(line)
                        if any(m not in places for m in mentions):
                            raise ValueError(f"{line!r}: no such mention")
                        seen.update(mentions)
                        # A line may name an old woman by both: an entity for each attribute
                        for name in ATTRIBUTES:
                            own = sorted({n for letter, n in mentions if letter == name[0]})
                            if own:
                                entities.append({"attribute": name, "mentions": own, "who": who,
                                                 "label": label, "reason": reason})  # fmt: skip
                except (ValueError, IndexError) as error:
                    wrong.append(f"{path.name} @{head}: {error}")
            lacking = [f"{a}{n}" for a, n in places if not seen[a, n]]
            twice = [f"{a}{n}" for (a, n), count in seen.items() if count > 1]
            if lacking or twice:
                wrong.append(f"{path.name} @{head}: without answer {lacking}, twice {twice}")
            out.append({**row, "entities": entities, "stereotypes": stereotypes,
                        "annotator": path.parent.name})  # fmt: skip
    return out, wrong


def write(rows: Sequence[Row], path: Path, after: Path | None) -> None:
    """Write labelled documents, each once, with its split; second readings get a file beside.

    What is labelled already stays as it is.
    """
    before = labelled(after) if after else []
    first: dict[int, Row] = {row["number"]: row for row in before}
    second = labelled(after.with_name(SECOND)) if after else []
    for row in sorted(rows, key=lambda row: (row["number"], row["annotator"])):
        if first.setdefault(row["number"], row) is not row:
            second.append(row)
    splits = split(list(first.values()))
    with gzip.GzipFile(path, "wb", mtime=0) as out:
        for row in first.values():
            made = {name: row[name] for name in ("number", "id", "source", "start", "sha256")}
            made |= {"split": splits[row["number"]], "annotator": row["annotator"]}
            made |= {} if family(row["source"]) in UNSEEN else {"text": row["text"]}
            made |= {name: row[name] for name in ("mentions", "entities", "stereotypes")}
            out.write(json.dumps(made, ensure_ascii=False).encode() + b"\n")
    if not second:
        return
    with gzip.GzipFile(path.with_name(SECOND), "wb", mtime=0) as out:
        for row in second:
            made = {name: row[name] for name in ("number", "annotator", "entities", "stereotypes")}
            out.write(json.dumps(made, ensure_ascii=False).encode() + b"\n")
    print(Counter(splits.values()), f"{len(second)} read twice")
    agreement(first, second)


def split(rows: Sequence[Row]) -> dict[int, str]:
    """train, report or unseen by number: near-duplicates and passages of a document go together.

    Rows that have a split keep it.
    """
    owner = {row["number"]: row["number"] for row in rows}

    def root(number: int) -> int:
        while owner[number] != number:
            number = owner[number]
        return number

    runs: dict[int, list[int]] = {}
    sizes: dict[int, int] = {}
    by_id: dict[str, int] = {}
    for row in rows:
        owner[root(row["number"])] = root(by_id.setdefault(row["id"], row["number"]))
        words = re.findall(r"\w+", row.get("text", "").lower())
        own = {hashed(*words[at : at + 8]) for at in range(len(words) - 7)}
        sizes[row["number"]] = len(own)
        for each in own:
            runs.setdefault(each, []).append(row["number"])
    shared = Counter(
        pair
        for found in runs.values()
        if 1 < len(found) < 20
        for pair in itertools.combinations(sorted(found), 2)
    )
    for (one, other), count in shared.items():
        if count > NEAR * min(sizes[one], sizes[other]):
            owner[root(one)] = root(other)
    cluster: dict[int, list[Row]] = {}
    for row in rows:
        cluster.setdefault(root(row["number"]), []).append(row)
    out: dict[int, str] = {}
    for found in cluster.values():
        unseen = any(family(row["source"]) in UNSEEN for row in found)
        # Written texts say nothing about real ones: they are only learnt from
        real = not any(row["source"] == "written" for row in found)
        chosen = real and hashed(min(row["id"] for row in found), "split") % 5 == 0
        known = {row["split"] for row in found if "split" in row}
        joins = "unseen" if unseen else "report" if chosen else "train"
        if known:
            joins = next(each for each in ("unseen", "report", "train") if each in known)
        for row in found:
            out[row["number"]] = row.get("split", joins)
    return out


def agreement(first: dict[int, Row], second: Sequence[Row]) -> None:
    """Print how often two annotators agree, by attribute: on mentions, and on pairs of them."""
    for name in ATTRIBUTES:
        who, right, pairs = [], [], []
        for row in second:
            one, other = (
                {n: (e["who"], e["label"] != "w", at) for at, e in enumerate(each["entities"])
                 if e["attribute"] == name for n in e["mentions"]}
                for each in (first[row["number"]], row)
            )  # fmt: skip
            both = sorted(one.keys() & other.keys())
            who += [(one[n][0], other[n][0]) for n in both]
            right += [(one[n][1], other[n][1]) for n in both]
            pairs += [
                (one[a][2] == one[b][2], other[a][2] == other[b][2])
                for a, b in itertools.combinations(both, 2)
            ]
        for title, found in (("who", who), ("right", right), ("same person", pairs)):
            if found:
                same = sum(a == b for a, b in found) / len(found)
                chance = (
                    sum(
                        sum(a == v for a, _ in found) * sum(b == v for _, b in found)
                        for v in {v for pair in found for v in pair}
                    )
                    / len(found) ** 2
                )
                kappa = (same - chance) / (1 - chance) if chance < 1 else 1.0
                print(f"{name} {title}: n {len(found)}, same {same:.3f}, kappa {kappa:.2f}")
        # As above: of the mentions that one reading calls people, those that the other does
        named = [
            other in PERSONS for pair in who for one, other in (pair, pair[::-1]) if one in PERSONS
        ]
        print(f"{name}, people of one are people of the other: {share(sum(named), len(named))}")
    found = [
        all(n in right for n in entity["mentions"])
        for row in second
        for one, other in ((first[row["number"]], row), (row, first[row["number"]]))
        for right in [{n for each in _right(other) for n in each["mentions"]}]
        for entity in _right(one)
    ]
    # Nobody who is measured by one reading can be right more often than this
    print(f"gender, whom one calls right the other calls right: {share(sum(found), len(found))}")


def _right(row: Row) -> list[Row]:
    """Those whose gender may change."""
    return [
        each for each in row["entities"] if each["attribute"] == "gender" and each["label"] != "w"
    ]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True)
    drawing = commands.add_parser("draw")
    drawing.add_argument("corpora", nargs="+", type=Path)
    drawing.add_argument("--after", type=Path, help="what is labelled already")
    drawing.add_argument("--to", type=Path, required=True)
    reading = commands.add_parser("read")
    reading.add_argument("folder", type=Path)
    reading.add_argument("answers", nargs="+", type=Path)
    reading.add_argument("--after", type=Path, help="what is labelled already")
    reading.add_argument("--to", type=Path)
    agreeing = commands.add_parser("agree")
    agreeing.add_argument("--data", type=Path, default=Path(__file__).parent.parent / "data")
    args = parser.parse_args()
    if args.command == "agree":
        first, second = (labelled(args.data / name) for name in ("documents.jsonl.gz", SECOND))
        agreement({row["number"]: row for row in first}, second)
        return
    if args.command == "draw":
        draw(args.corpora, args.to, labelled(args.after) if args.after else [])
        return
    rows, wrong = read(args.folder, args.answers)
    for line in wrong:
        print(line)
    print(f"{len(rows)} documents, {sum(len(row['entities']) for row in rows)} entities")
    if args.to:
        write(rows, args.to, args.after)


if __name__ == "__main__":
    main()
