"""Makes 12 small runs and digests their outputs, so that a change of the code can be held to them.

    python tests/golden/record.py [--check] [--keep FOLDER] [files] [topic] [store]

Four modes, each on files, on a topic (Kafka) and into an object store (S3). Without `--check` the
digests are written to digests.json beside this file; with it they are compared, and the status is 1
where one differs. `--keep` leaves the outputs in a folder, to look at. Sources that are not named
are left out.

Each folder of an output has two digests. `bytes` is of its files' bytes. They depend on the
processor (the last bits of floating-point sums) and on the packages that write Parquet, so they are
compared where these are what the digests were made with. `content` is of rows, keys and values in
their order, with floats of six digits in shards. The floats of ledger, report and sentences are no
part of it: `numbers` names them, and they are compared within a tolerance, as a digest of rounded
numbers changes where one lies beside a border.

The models of 8 bits round what they multiply, so with other instructions of the processor their
probabilities differ in the third digit. Where the digests were made with others, shards alone are
compared by content, which are what was decided, and numbers within a wide tolerance. Left out of
all:

- the folder of the run, in paths (it has another name each time);
- ledger/meta.json but for its columns, `program` of entries, `configuration` and `epochs` of
  report.json: what was asked for, by what version of the program, and the times of the input;
- the size and digest of a file of dead letters, which holds the input's path;
- of `content` alone, the sizes and digests of files, which follow from their bytes.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.metadata import version
from itertools import zip_longest
from math import isclose
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from evenflow.gates.ledger.files import canonical
from evenflow.pipelines.corpus.measure import measure
from evenflow.pipelines.engine.files.driver import Run
from evenflow.pipelines.engine.topics.driver import Stream, StreamRun
from evenflow.pipelines.pages.report.report import build
from evenflow.schemas.config import Config, load
from evenflow.schemas.documents import Figures
from evenflow.transforms.kafka.settings import KafkaSettings
from evenflow.transforms.measures.bias_score import reference as references
from evenflow.transforms.measures.bias_score import signal
from evenflow.transforms.measures.bias_score.records import BiasSums
from evenflow.transforms.storage.storage import Place, Storage, at

HERE = Path(__file__).parent
INPUT, DIGESTS = HERE / "input.jsonl", HERE / "digests.json"
SOURCES = ("files", "topic", "store")
PANE, BEGIN_MS = 10, 1_600_000_000_000  # records of a pane; the time of a topic's first
LOOSE = {"sha256", "bytes"}  # of a file of the ledger
# Shards hold what was decided, so their floats are digested. Others' are compared within this part
# of the number, and by this at most for small ones: a step of what a solver found, where one is
# rounded up on one processor and down on another.
DECIDED = ("accepted/", "quarantine/")
# With the same instructions, and with others, where 6.5 % were seen
SAME, OTHER = (1e-4, 2e-5), (0.1, 0.05)
# What onnxruntime chooses its code by
INSTRUCTIONS = ("avx", "avx2", "fma", "avx512f", "avx512_vnni", "avx_vnni", "amx_int8")
GATE = {"gate.min_mentions": 10, "gate.warn": 0.2, "gate.block": 0.42, "pane.docs": PANE}
BIAS = {"bias_score.mode": "measure", "bias_score.min_sentences": 20, "bias_score.warn": 0.02}
COVERAGE = {"coverage.tau": 3, "coverage.attributes": ["gender", "religion", "source"]}
MODES: dict[str, dict[str, Any]] = {
    "measure": {**BIAS, **COVERAGE, "stereotypes.action": "flag"},
    "substitute": {"repair.mode": "substitute", "measure.count": "people", "measure.passages": 2},
    "substitute-weight": {
        **{"repair.mode": ["substitute", "weight"], "bias_score.mode": "subtract"},
        **{"coverage.tau": "5%", "coverage.unit": "document", "bias_score.percentile": 90},
    },
    "remove": {
        **{"repair.mode": ["substitute", "weight"], "stereotypes.action": "remove"},
        **BIAS,
        **COVERAGE,
    },
}
Maker = Callable[[str, Config, Path], Place]


def configuration(mode: str, folder: Path) -> Config:
    """The configuration of a mode; a reference of the bias score is made in the folder."""
    more: dict[str, Any] = {}
    if "bias_score.mode" in MODES[mode]:
        reference = folder / "reference.json"
        scoring = load(None, {"bias_score.mode": "measure"}, ["gender"])
        total = Figures()
        for figures in measure([str(INPUT)], scoring):
            total.add(figures)
        sums, made_with = (
            BiasSums.model_validate(total.measures["bias_score"]["sums"]),
            signal.of(scoring).made_with,
        )
        reference.write_bytes(canonical(references.content("gender", made_with, sums)))
        more = {"bias_score.reference": str(reference)}
    return load(None, {**GATE, **MODES[mode], **more}, ["gender", "religion", "age"])


def of_files(mode: str, config: Config, folder: Path) -> Place:
    """A run on files into a folder."""
    Run([str(INPUT)], folder / mode, config).go()
    return folder / mode


def into_store(bucket: str) -> Maker:
    """What runs on files into an object store."""

    def make(mode: str, config: Config, folder: Path) -> Place:
        output = f"{bucket}/golden {mode}"
        Run([str(INPUT)], output, config).go()
        return output

    return make


def of_topic(broker: Any) -> Maker:
    """What runs on a topic of a broker, with panes of a second."""

    def make(mode: str, config: Config, folder: Path) -> Place:
        topic = broker.create_topic(f"golden-{mode}", 1)
        values = INPUT.read_bytes().splitlines()
        for number in range(0, len(values), PANE):
            begin = BEGIN_MS + number // PANE * 1000
            broker.produce(topic, 0, values[number : number + PANE], timestamp_ms=begin)
        stream = Stream(KafkaSettings(broker.address), topic, pane_seconds=1.0, until_end=True)
        StreamRun(stream, folder / mode, config).go()
        return folder / mode

    return make


def runs(make: Maker, folder: Path) -> dict[str, dict[str, dict[str, str]]]:
    """Make the runs of all modes, and digest them."""
    out: dict[str, dict[str, dict[str, str]]] = {}
    for mode in MODES:
        output = at(make(mode, configuration(mode, folder), folder))
        build(output)
        out[mode] = digests(output, {str(folder): "FOLDER", str(HERE): "HERE"})
    return out


def digests(output: Storage, names: dict[str, str]) -> dict[str, dict[str, str]]:
    """The two digests of each part of an output; `names` stand in the place of paths."""
    parts: dict[str, list[str]] = {}
    for name in sorted(each.name for each in output.tree()):
        if name.startswith(("accepted/", "quarantine/", "sentences/", "ledger/0")):
            parts.setdefault(name.partition("/")[0] + "/", []).append(name)
    parts["ledger/"].append("ledger/meta.json")
    parts["report.json"] = ["report.json"]
    return {part: _digests(output, files, names) for part, files in sorted(parts.items())}


def _digests(output: Storage, files: list[str], names: dict[str, str]) -> dict[str, str]:
    """The digests of some files, and their numbers."""
    exact, content = hashlib.sha256(), hashlib.sha256()
    numbers: list[str] = []
    for name in files:
        data = output.read(name)
        if name.endswith(".parquet"):
            table = pq.read_table(pa.BufferReader(data))
            found: Any = [str(table.schema), table.to_pylist()]
        else:
            text = data.decode()
            for path, word in names.items():
                text = text.replace(path, word)
            found = _lasting(name, json.loads(text))
            data = json.dumps(found).encode()
        exact.update(name.encode() + b"\0" + hashlib.sha256(data).digest())
        plain = list(_plain(found))
        if not name.startswith(DECIDED):
            numbers += [f"{value:.7g}" for value in plain if isinstance(value, float)]
            plain = ["float" if isinstance(value, float) else value for value in plain]
        rounded = [f"{value:.6g}" if isinstance(value, float) else value for value in plain]
        content.update(name.encode() + b"\0" + json.dumps(rounded).encode())
    digests = {"bytes": exact.hexdigest()[:16], "content": content.hexdigest()[:16]}
    return digests | {"numbers": " ".join(numbers)}


def _lasting(name: str, found: dict[str, Any]) -> dict[str, Any]:
    """What of a JSON file does not differ by nature."""
    if name == "ledger/meta.json":
        return {key: found[key] for key in ("finished", "schema")}
    return {
        key: _numbers_of_letters(value)
        for key, value in found.items()
        if key not in ("configuration", "epochs", "program")
    }


def _numbers_of_letters(value: Any) -> Any:
    """The same, with the numbers of dead letters alone: their file holds the path of the input."""
    if isinstance(value, list):
        return [_numbers_of_letters(item) for item in value]
    if not isinstance(value, dict):
        return value
    if value.get("name", "").endswith(".jsonl"):
        return {"name": value["name"], "rows": value["rows"]}
    return {key: _numbers_of_letters(item) for key, item in value.items()}


def _plain(value: Any) -> Iterator[Any]:
    """Keys and values in their order, without what follows from bytes."""
    if isinstance(value, dict):
        for key, each in value.items():
            if key not in LOOSE and key != "arrow":
                yield key
                yield from _plain(each)
    elif isinstance(value, list | tuple):
        yield len(value)
        for each in value:
            yield from _plain(each)
    elif isinstance(value, bytes):
        yield hashlib.sha256(value).hexdigest()
    else:
        yield value


def machine() -> dict[str, str]:
    """What decides the last bits of an output."""
    flags = list[str]()
    if (info := Path("/proc/cpuinfo")).exists():
        lines = [line for line in info.read_text().splitlines() if line.startswith("flags")]
        flags = lines[0].split() if lines else flags
    packages = ("numpy", "onnxruntime", "pyarrow", "scipy")
    asked = ("OPENBLAS_CORETYPE", "OPENBLAS_NUM_THREADS")
    kernel = " ".join(os.environ.get(name, "-") for name in asked)
    return {
        "processor": hashlib.sha256(" ".join(flags).encode()).hexdigest()[:16],
        "instructions": " ".join(name for name in INSTRUCTIONS if name in flags),
        "kernel": kernel,
        **{name: version(name) for name in packages},
    }


def differences(source: str, found: dict[str, dict[str, dict[str, str]]]) -> list[str]:
    """What differs from the digests and the numbers on record."""
    known = json.loads(DIGESTS.read_text())
    here = machine()
    alike = known["machine"]["instructions"] == here["instructions"]
    kinds = ["content", *(["bytes"] if known["machine"] == here else [])]
    wrong: list[str] = []
    for mode, parts in known[source].items():
        for part in sorted(parts.keys() | found[mode].keys()):
            old, new = parts.get(part, {}), found[mode].get(part, {})
            wrong += [
                f"{source}, {mode}: {kind} of {part} differs"
                for kind in kinds
                if old.get(kind) != new.get(kind) and (alike or part.startswith(DECIDED))
            ]
            numbers = known["numbers"].get(old.get("numbers"), "")
            wrong += [
                f"{source}, {mode}: {line} of {part}"
                for line in numbers_apart(numbers, new.get("numbers", ""), SAME if alike else OTHER)
            ]
    return wrong


def numbers_apart(known: str, found: str, apart: tuple[float, float] = SAME) -> list[str]:
    """Where numbers differ by more than a share, and than an amount, or in how many there are."""
    share, amount = apart
    pairs = list(zip_longest(known.split(), found.split(), fillvalue="nan"))
    return [
        f"number {at} was {old} and is {new}"
        for at, (old, new) in enumerate(pairs)
        if old != new and not isclose(float(old), float(new), rel_tol=share, abs_tol=amount)
    ]


def _interned(known: dict[str, Any]) -> dict[str, Any]:
    """The same, with the numbers of all parts in one table: most sources have the same ones."""
    table = known.pop("numbers", {})
    own: dict[str, str] = {}
    for source in SOURCES:
        for part in (part for parts in known.get(source, {}).values() for part in parts.values()):
            numbers = table.get(part["numbers"], part["numbers"])
            part["numbers"] = hashlib.sha256(numbers.encode()).hexdigest()[:16]
            own[part["numbers"]] = numbers
    return known | {"machine": machine(), "numbers": dict(sorted(own.items()))}


def main() -> None:
    parser = argparse.ArgumentParser(description=str(__doc__).partition("\n")[0])
    parser.add_argument("sources", nargs="*", default=SOURCES)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--keep", type=Path)
    asked = parser.parse_args()
    known = json.loads(DIGESTS.read_text()) if DIGESTS.exists() else {}
    wrong: list[str] = []
    with ExitStack() as stack:
        folder = asked.keep or Path(stack.enter_context(tempfile.TemporaryDirectory()))
        for source in asked.sources:
            place = folder / source
            place.mkdir(parents=True)
            found = runs(_maker(source, stack, folder), place)
            if asked.check:
                wrong += differences(source, found)
            known[source] = found
            print(f"{source}: {len(found)} runs")
    if not asked.check:
        DIGESTS.write_text(json.dumps(_interned(known), indent=1) + "\n")
    for line in wrong:
        print(line)
    sys.exit(1 if wrong else 0)


def _maker(source: str, stack: ExitStack, folder: Path) -> Maker:
    """What makes the runs of a source; the services that it needs end with the stack."""
    sys.path.append(str(HERE.parent))  # as pytest has it
    if source == "topic":
        from services.kafka_broker import Broker

        broker = Broker(folder / "kafka")
        broker.start()
        stack.callback(broker.stop)
        return of_topic(broker)
    if source == "store":
        from services.s3_server import S3Server

        server = S3Server(folder / "s3")
        server.start()
        stack.callback(server.stop)
        os.environ.update(server.environment())
        return into_store(server.bucket("golden"))
    return of_files


if __name__ == "__main__":
    main()
