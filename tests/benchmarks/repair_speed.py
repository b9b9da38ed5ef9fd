"""What repair costs `evenflow run`: python tests/benchmarks/repair_speed.py [CORPUS] [--mb 12]
[--runs 3]

Prints medians of whole processes: MB of input a second of wall clock, CPU seconds a MB, and peak
memory of all of a command's processes together; «start» is the CPU time of the same command on one
document, which a longer input does not pay again. CORPUS is JSON lines, .gz or plain, by default
tests/data/speeches.jsonl.gz cut into documents of some paragraphs; it is repeated up to --mb. Peers
in the same run: spaCy's blank English pipeline with its sentencizer (sentence bounds alone), and
with its matcher for the labels; being slow, they are given the first lines, and their figures are
of those.

Beside it, by calculation: what the same exchanges would cost with the main paper's LLMs, at 2 FLOPs
a parameter and token (Kaplan et al. 2020, section 2.1, of a forward pass): one question of this
project about each set that is judged.

With --profile: the functions that cost most of an in-process repair of all attributes, by their own
time.
"""

from __future__ import annotations

import argparse
import cProfile
import gzip
import pstats
import shutil
import statistics
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

from rich.console import Console
from rich.table import Table
from speed import EVENFLOW, HERE, corpus, head, timed

from evenflow.gates.ledger import files as ledger
from evenflow.pipelines.engine.files import cutting, making
from evenflow.pipelines.engine.panes import closing
from evenflow.prompts import loader
from evenflow.schemas.config import load
from evenflow.transforms.io import files
from evenflow.transforms.llm.judges import AROUND
from evenflow.transforms.repair.estimate import CHARACTERS_A_TOKEN, answer_tokens
from evenflow.transforms.storage.storage import at

REPAIRS = {
    "measure": ("--mode", "measure"),
    "substitute gender": ("--mode", "substitute", "--attribute", "gender"),
    "substitute all three": ("--mode", "substitute"),
    "substitute, stereotypes out": ("--mode", "substitute", "--stereotypes", "remove"),
}
PEERS = {"spaCy sentencizer": "sentences", "spaCy sentencizer, matcher": "spacy"}
PEER_MB = 4  # of input that the peers are given: some seconds
# Parameters; the main paper's models, 4.2.3
MODELS = {"Qwen-2.5-7B": 7.6e9, "Llama-3.3-70B": 70.6e9}
# A second of one H100 or H200: 40 % of its 989e12 (NVIDIA's data sheet, dense BF16), a good use in
# batches
GPU_FLOPS = 4e14
SENTENCE = "The engineer told his manager that he would review the code before the end of the week."
TOP = 25  # functions of the profile


class Cost(NamedTuple):
    """Medians of a command on some MB of input: seconds of wall clock and CPU, MiB, and CPU seconds
    on one document.
    """

    megabytes: float
    wall: float
    cpu: float
    peak: float
    start: float


def plain(source: Path, into: Path) -> Path:
    """The file, decompressed if it is."""
    if source.suffix != ".gz":
        return source
    with gzip.open(source) as compressed, into.open("wb") as out:
        shutil.copyfileobj(compressed, out)
    return into


def measured(command: list[str], read: Path, runs: int, output: Path, one: list[str]) -> Cost:
    """Medians of some runs, each from nothing. one: the same command on one document."""
    taken = []
    for _ in range(runs):
        shutil.rmtree(output, ignore_errors=True)
        taken.append(timed(command))
    shutil.rmtree(output.with_name("one"), ignore_errors=True)
    start = timed(one).cpu
    wall, cpu, peak = (
        statistics.median(figures)
        for figures in zip(*((t.wall, t.cpu, t.peak) for t in taken), strict=True)
    )
    return Cost(read.stat().st_size / 1e6, wall, cpu, peak, start)


def command(read: Path, output: Path, options: tuple[str, ...]) -> list[str]:
    """`evenflow run` on one core."""
    return [EVENFLOW, "run", "--quiet", "--input", str(read), "--output", str(output), *options]


def peer(job: str, read: Path) -> list[str]:
    """SpaCy on a file: sentences, or labels too."""
    return [sys.executable, str(HERE / "peers.py"), job, str(read), ""]


def costs(path: Path, work: Path, runs: int) -> dict[str, Cost]:
    """Of each repair and each peer."""
    first = work / "first.jsonl"
    with path.open("rb") as lines:
        first.write_bytes(lines.readline())
    out: dict[str, Cost] = {}
    for name, options in REPAIRS.items():
        output = work / name.replace(" ", "-")
        out[name] = measured(
            command(path, output, options),
            path,
            runs,
            output,
            command(first, work / "one", options),
        )
    few = head(path, PEER_MB * 1_000_000, work / "few.jsonl")
    for name, job in PEERS.items():
        out[name] = measured(peer(job, few), few, runs, work / "none", peer(job, first))
    return out


def cost_table(found: dict[str, Cost]) -> Table:
    """A line a command."""
    table = Table(
        "command",
        "MB",
        "MB/s wall",
        "CPU s",
        "CPU s/MB",
        "MB/s core",
        "start CPU s",
        "less it MB/s",
        "peak MiB",
    )
    for name, each in found.items():
        table.add_row(
            name,
            f"{each.megabytes:.1f}",
            f"{each.megabytes / each.wall:.2f}",
            f"{each.cpu:.2f}",
            f"{each.cpu / each.megabytes:.3f}",
            f"{each.megabytes / each.cpu:.2f}",
            f"{each.start:.2f}",
            f"{each.megabytes / max(each.cpu - each.start, 1e-9):.2f}",
            f"{each.peak:.0f}",
        )
    return table


def tokens_a_question() -> float:
    """Of the question about an exchange in a passage of usual length, and its answer."""
    passage = (SENTENCE + " ") * round((2 * AROUND[0] + len(SENTENCE)) / len(SENTENCE))
    slots = {"attribute": "gender", "from": "male", "to": "female"}
    asked = loader.load("substitution").messages(passage, **slots)
    characters = sum(len(each["content"]) for each in asked)
    return characters / CHARACTERS_A_TOKEN + answer_tokens("substitution")


def llm_table(output: Path, cost: Cost, base: Cost) -> Table:
    """The LLM's cost beside the embedded repair's, for the sets of an output's ledger that were
    judged.
    """
    sets = changed = 0
    for entry in ledger.read_entries(output):
        for attribute in entry.attributes.values():
            if attribute.repair is not None:
                sets += attribute.repair.judged
                changed += attribute.repair.changed
    tokens = tokens_a_question()
    own = (cost.cpu - base.cpu) / max(sets, 1)
    title = f"an exchange: {sets:,} judged sets in {cost.megabytes:.1f} MB, {changed:,} changed"
    table = Table("by", "tokens", "FLOPs a set", "seconds a set", "seconds a MB", title=title)
    table.add_row(
        "embedded (CPU, all that repair adds)",
        "",
        "",
        f"{own:.2g}",
        f"{(cost.cpu - base.cpu) / cost.megabytes:.2f}",
    )
    for name, parameters in MODELS.items():
        flops = 2 * parameters * tokens
        seconds = flops / GPU_FLOPS
        table.add_row(
            f"{name} (GPU)",
            f"{tokens:.0f}",
            f"{flops:.2g}",
            f"{seconds:.2g}",
            f"{seconds * sets / cost.megabytes:.1f}",
        )
    return table


def repaired(path: Path, work: Path) -> None:
    """Make the panes of a file, as a worker does, without committing them."""
    config = load(None, {"repair.mode": "substitute"})
    context = making.GraphContext(config.model_dump(), closing.Staging(at(work), "run"))
    for pane in cutting.panes(files.match([str(path)]), config):
        making.make_pane(pane, context)


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "corpus", type=Path, nargs="?", help="JSON lines with a field text, .gz or plain"
    )
    parser.add_argument("--mb", type=int, default=12, help="size of the input")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--profile", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        path = work / "corpus.jsonl"
        source = None if options.corpus is None else plain(options.corpus, work / "plain.jsonl")
        corpus(source, options.mb * 1_000_000, path)
        if options.profile:
            profiler = cProfile.Profile()
            profiler.runcall(repaired, path, work)
            pstats.Stats(profiler).sort_stats("tottime").print_stats(TOP)
            return
        found = costs(path, work, options.runs)
        console = Console(width=130)
        console.print(cost_table(found))
        three = "substitute all three"
        console.print(llm_table(work / three.replace(" ", "-"), found[three], found["measure"]))


if __name__ == "__main__":
    main()
