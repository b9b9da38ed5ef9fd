"""Shows that nothing that decides depends on the processor, by runs of 500 documents.

    python tests/golden/kernels.py [TESTS ...]

The same run (exchanges and weights; gender, religion, age) is made with the code that numpy and
OpenBLAS have for several processors, and with one thread. Verdicts, exchanged texts, what is
accepted, and weights to six digits must be equal; other numbers may differ by the tolerance of
record.py. What else differs in its bytes is printed. Then these tests are run in the same ways.
A kernel that this processor cannot run is named and left out. The status is 1 where a run differs.
"""

from __future__ import annotations

import gzip
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from numpy._core import _multiarray_umath as numpy_core

from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.pages.report.report import build
from evenflow.schemas.config import load
from evenflow.transforms.storage.storage import at

DATA = Path(__file__).parent.parent / "data/documents.jsonl.gz"
DOCUMENTS, PANE = 500, 100
GATE = {"gate.min_mentions": 10, "gate.warn": 0.2, "gate.block": 0.42, "pane.docs": PANE}
REPAIR = {"repair.mode": ["substitute", "weight"]}
# OpenBLAS's kernel: what a processor must have for it (it does not look), and how names of
# instructions begin that numpy must not use, as a processor of this kind lacks them.
KERNELS = {
    "SkylakeX": ({"avx512f", "avx512dq", "avx512bw", "avx512vl", "avx512cd"}, ()),
    "Haswell": ({"avx2", "fma"}, ("AVX512", "X86_V4")),
    "Sandybridge": ({"avx"}, ("AVX512", "X86_V4", "AVX2", "FMA", "X86_V3")),
}


def ways(flags: set[str]) -> tuple[dict[str, dict[str, str]], list[str]]:
    """What the environment says for each way to compute, and why some ways are left out."""
    found: dict[str, dict[str, str]] = {"as it is": {}, "one thread": {"OPENBLAS_NUM_THREADS": "1"}}
    left: list[str] = []
    for kernel, (needed, lacking) in KERNELS.items():
        if missing := sorted(needed - flags):
            left.append(f"{kernel}: left out, as this processor lacks {', '.join(missing)}")
            continue
        off = [each for each in numpy_core.__cpu_dispatch__ if each.startswith(lacking or "-")]
        found[kernel] = {"OPENBLAS_CORETYPE": kernel, "NPY_DISABLE_CPU_FEATURES": " ".join(off)}
    return found, left


def processor() -> set[str]:
    """The instructions that the processor has, as Linux names them; empty elsewhere."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    return {word for line in lines if line.startswith("flags") for word in line.split()}


def texts(path: Path) -> None:
    """Write documents of all sources, evenly drawn from those with a text."""
    with gzip.open(DATA, "rt") as file:
        rows = [row for row in map(json.loads, file) if row.get("text")]
    with path.open("w") as file:
        for row in (rows[at * len(rows) // DOCUMENTS] for at in range(DOCUMENTS)):
            one = {"id": f"{row['number']}", "source": row["source"], "text": row["text"]}
            file.write(json.dumps(one) + "\n")


def one_run(folder: Path) -> None:
    """Make the run in a folder with the input, and write its digests there."""
    from golden.record import digests

    config = load(None, {**GATE, **REPAIR}, ["gender", "religion", "age"])
    Run([str(folder / "input.jsonl")], folder / "out", config).go()
    output = at(folder / "out")
    build(output)
    found = digests(output, {str(folder): "FOLDER"})
    (folder / "digests.json").write_text(json.dumps(found))


def apart(first: dict[str, dict[str, str]], other: dict[str, dict[str, str]]) -> list[str]:
    """Where two runs differ in what decides, or in a number by more than the tolerance."""
    from golden.record import numbers_apart

    wrong = [
        f"content of {part} differs"
        for part in sorted(first.keys() | other.keys())
        if first.get(part, {}).get("content") != other.get(part, {}).get("content")
    ]
    for part in sorted(first.keys() & other.keys()):
        lines = numbers_apart(first[part]["numbers"], other[part]["numbers"])
        wrong += [f"{line} of {part}" for line in lines]
    return wrong


def main() -> int:
    found, left = ways(processor())
    print(*left, sep="\n", end="\n" if left else "")
    failed = False
    with tempfile.TemporaryDirectory() as base:
        first: dict[str, dict[str, str]] = {}
        for name, environment in found.items():
            folder = Path(base) / name
            folder.mkdir()
            texts(folder / "input.jsonl")
            called = [sys.executable, __file__, "--one", str(folder)]
            subprocess.run(called, env=os.environ | environment, check=True)
            own = json.loads((folder / "digests.json").read_text())
            first = first or own
            wrong = apart(first, own)
            bytes_ = [part for part in own if own[part]["bytes"] != first[part]["bytes"]]
            print(f"{name}: {'; '.join(wrong) or 'decides the same'};", end=" ")
            print(f"other bytes: {', '.join(bytes_) or 'none'}", flush=True)
            failed |= bool(wrong)
    for name, environment in found.items() if sys.argv[1:] else ():
        print(f"tests, {name}", flush=True)
        tests = [sys.executable, "-m", "pytest", "-n", "2", *sys.argv[1:]]
        failed |= bool(subprocess.run(tests, env=os.environ | environment).returncode)
    return int(failed)


if __name__ == "__main__":
    sys.path[:0] = [str(Path(__file__).parent.parent)]  # as pytest has it
    if sys.argv[1:2] == ["--one"]:
        one_run(Path(sys.argv[2]))
    else:
        sys.exit(main())
