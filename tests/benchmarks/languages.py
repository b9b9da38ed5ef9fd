"""How well the gender lists of other languages find people, in parallel text and in read samples.

    python tests/benchmarks/languages.py agreement LOCALE [--part dev]
    python tests/benchmarks/languages.py sample LIST FILE… > sample.tsv
    python tests/benchmarks/languages.py precision

`agreement` reads catalogues of translations (LOCALE/LANGUAGE/LC_MESSAGES/*.mo), such as those of
the Debian packages wesnoth-1.16-data and wesnoth-1.16-httt. Of the messages whose English names
women (or men) by a noun of the list gender, recall is the share whose translation names them by the
list of its language. Clash is the share of the messages whose English names one gender alone and
whose translation names the other alone. Catalogues whose name's digest is even are for those who
write the lists, the others are reported on.

`sample` draws mentions at random from files whose texts are set apart by a line «%» (Debian's
fortunes-*) and prints them to be read. `precision` prints what was read: language_verdicts.tsv has
the label and verdict of each mention, not the text, which others own: 1 names people of the group,
g is anybody («man is mortal»), 0 names something else.
"""

from __future__ import annotations

import argparse
import gettext
import hashlib
import random
import sys
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

from evenflow.transforms import wilson
from evenflow.transforms.labels.finder import LabelFinder
from evenflow.transforms.text import language
from evenflow.wordlists.loader import LANGUAGES, load

VERDICTS = Path(__file__).parent.parent / "data" / "language_verdicts.tsv"
# Of the English list: translations have other pronouns, or none, and titles
LEFT_OUT = {"she", "her", "hers", "herself", "he", "him", "his", "himself"}
LEFT_OUT |= {"mr", "mrs", "ms", "miss", "lord", "lady", "sir"}
FOLDERS = {"zh": "zh_CN"}
LONG, SHORT = 200, 40  # characters of texts whose language is detected
AROUND = 45  # characters around a mention
GROUPS = ("female", "male")


def messages(folder: Path, part: str) -> Iterator[tuple[str, str]]:
    """The messages of a part of a language's catalogues with their translations."""
    for path in sorted(folder.glob("LC_MESSAGES/*.mo")):
        is_dev = hashlib.sha256(path.stem.encode()).digest()[0] % 2 == 0
        if is_dev == (part == "dev"):
            with path.open("rb") as file:
                catalogue = vars(gettext.GNUTranslations(file))["_catalog"]
            for key, text in catalogue.items():
                if isinstance(key, str) and key and text and text != key:
                    yield key.rpartition("\x04")[2].rpartition("^")[2], text


def agreement(locale: Path, part: str, show: str) -> None:
    """Print recall and clash by language."""
    english = LabelFinder([load("gender")])
    print("language  recall of women  n  recall of men  n  clash  n  detected: long  n  short  n")
    for code in LANGUAGES:
        finder = LabelFinder([words := load(f"gender_{code}")])
        hits: dict[str, list[bool]] = {each: [] for each in GROUPS}
        clash: list[bool] = []
        detected: dict[bool, list[bool]] = {True: [], False: []}
        for original, text in messages(locale / FOLDERS.get(code, code), part):
            if len(text) >= SHORT:
                is_right = language.detect(text) in words.language.split()
                detected[len(text) >= LONG].append(is_right)
            named = {m.group for m in english.find(original) if m.label.lower() not in LEFT_OUT}
            if not named:
                continue
            here = {mention.group for mention in finder.find(text)}
            for group in named:
                hits[group].append(group in here)
                if code == show and group not in here:
                    print(f"  {group}: {original[:120]!r} → {text[:160]!r}", file=sys.stderr)
            if len(named) == len(here) == 1:
                clash.append(named != here)
                if code == show and named != here:
                    print(f"  CLASH: {original[:160]!r} → {text[:200]!r}", file=sys.stderr)
        if any(hits.values()):
            every = (*hits.values(), clash, *detected.values())
            print(code, *map(share, every), sep="  ")


def sample(name: str, paths: list[Path], most: int, seed: int) -> None:
    """Print mentions drawn at random from the texts of files."""
    finder = LabelFinder([load(name)])
    found: list[tuple[str, str, str]] = []
    for path in paths:
        for text in path.read_text("utf-8").split("\n%"):
            for mention in finder.find(text):
                before = text[max(0, mention.start - AROUND) : mention.start]
                behind = text[mention.end : mention.end + AROUND]
                shown = f"{before}[[{text[mention.start : mention.end]}]]{behind}"
                found.append((mention.group, mention.label, " ".join(shown.split())))
    for row in random.Random(seed).sample(sorted(set(found)), most):
        print(*row, sep="\t")


def precision() -> None:
    """Print the share of read mentions that name people of their group."""
    rows: dict[tuple[str, str], list[tuple[str, str]]] = defaultdict(list)
    for line in VERDICTS.read_text("utf-8").splitlines()[1:]:
        code, text, label, verdict = line.split("\t")
        rows[code, text].append((label, verdict))
    print("language  text  precision  n  anybody  something else")
    for (code, text), each in sorted(rows.items()):
        wrong = Counter(label for label, verdict in each if verdict == "0")
        named = ", ".join(f"{label} {count}" for label, count in wrong.most_common())
        verdicts = [verdict for _, verdict in each]
        right = share([verdict == "1" for verdict in verdicts])
        print(code, text, right, verdicts.count("g"), named, sep="  ")


def share(rows: list[bool]) -> str:
    """A share with its interval and n."""
    if not rows:
        return "–  0"
    part = sum(rows) / len(rows)
    low, high = wilson.interval(part, len(rows))
    return f"{part:.2f} [{low:.2f}, {high:.2f}]  {len(rows):,}"


def main() -> None:
    """Do what the command line says."""
    parser = argparse.ArgumentParser()
    commands = parser.add_subparsers(dest="command", required=True)
    own = commands.add_parser("agreement")
    own.add_argument("locale", type=Path)
    own.add_argument("--part", choices=("dev", "report"), default="report")
    own.add_argument("--show", default="", help="language whose misses are printed")
    own = commands.add_parser("sample")
    own.add_argument("name")
    own.add_argument("files", type=Path, nargs="+")
    own.add_argument("-n", type=int, default=40)
    own.add_argument("--seed", type=int, default=0)
    commands.add_parser("precision")
    args = parser.parse_args()
    if args.command == "agreement":
        agreement(args.locale, args.part, args.show)
    elif args.command == "sample":
        sample(args.name, args.files, args.n, args.seed)
    else:
        precision()


if __name__ == "__main__":
    main()
