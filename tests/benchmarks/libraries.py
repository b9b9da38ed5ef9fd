"""Own code beside the library that could replace it: python tests/benchmarks/libraries.py [CORPUS].

Prints speed and agreement in one run. CORPUS is JSON lines, compressed by gzip; by default
tests/data/speeches.jsonl.gz. Needs the extra `bench`.
"""

from __future__ import annotations

import gzip
import io
import re
import sys
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import inflect
import ruamel.yaml

from evenflow.transforms.io.decompress import Gunzip
from evenflow.transforms.substitution.agreement import starts_with_vowel_sound
from evenflow.wordlists import loader, nodes

SPEECHES = Path(__file__).parents[1] / "data" / "speeches.jsonl.gz"
RUNS = 5
ARTICLE = re.compile(r"\b(an?) ([A-Za-z]{3,})\b", re.IGNORECASE)


def seconds(work: Callable[[], object]) -> float:
    """Least CPU seconds of some runs."""
    taken = []
    for _ in range(RUNS):
        began = time.process_time()
        work()
        taken.append(time.process_time() - began)
    return min(taken)


def read_all(file: io.BufferedIOBase | gzip.GzipFile | Gunzip) -> int:
    """Bytes of a file, read by the MiB."""
    size = 0
    while chunk := file.read(1 << 20):
        size += len(chunk)
    return size


def main() -> None:
    """Print the table."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else SPEECHES
    data = path.read_bytes()
    size = read_all(gzip.GzipFile(fileobj=io.BytesIO(data)))
    for name, make in (
        ("gzip", lambda: gzip.GzipFile(fileobj=io.BytesIO(data))),
        ("own", lambda: Gunzip(io.BytesIO(data))),
    ):
        spent = seconds(lambda make=make: read_all(make()))
        print(f"gzip members   {name:8} {size / spent / 1e6:8.0f} MB/s")

    engine = inflect.engine()
    deciders: dict[str, Callable[[str], bool]] = {
        "inflect": lambda word: engine.a(word).startswith("an "),
        "own": starts_with_vowel_sound,
    }
    labels = sorted({label for name in loader.SHIPPED for label in loader.load(name).labels})
    found = Counter(
        (match[2].lower(), match[1].lower() == "an")
        for match in ARTICLE.finditer(gzip.decompress(data).decode())
    )
    for name, says in deciders.items():
        spent = seconds(lambda says=says: [says(label) for label in labels])
        right = sum(count for (word, an), count in found.items() if says(word) == an)
        print(
            f"a or an        {name:8} {spent / len(labels) * 1e6:8.1f} µs a word; as the text has"
            f" it: {right / found.total():.4f} of {found.total()}"
        )
    differ = [label for label in labels if len({says(label) for says in deciders.values()}) > 1]
    print(f"a or an        differ on {len(differ)} of {len(labels)} listed labels")

    listed = Path(loader.__file__).parent / "gender.yaml"
    for name, parse in (
        ("ruamel", lambda: ruamel.yaml.YAML().load(listed)),
        ("own", lambda: nodes.read(listed)),
    ):
        print(f"YAML, lines    {name:8} {seconds(parse) * 1e3:8.1f} ms for gender.yaml")


if __name__ == "__main__":
    main()
