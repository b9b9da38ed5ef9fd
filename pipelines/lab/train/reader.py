"""Trains the reader that ships.

    python -m evenflow.pipelines.lab.train.reader PRETRAINED FIRST --until 2619 --epochs 3
    python -m evenflow.pipelines.lab.train.reader PRETRAINED OUT --begin FIRST --epochs 2

PRETRAINED is build/models/minilm, which `make models` fetches. It learns from the part `train` of
the labelled documents, but for one in eight, which calibrates. What ships was trained twice: by the
documents of the first draw, then by all. With the same machine, packages and number of threads a
command writes the same weights.
"""

# pyright: reportMissingImports=false
from __future__ import annotations

import argparse
import functools
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from evenflow.pipelines.lab.train import exchange_figures
from evenflow.transforms.lab.training.labelled import Labelled
from evenflow.transforms.models.static import FirstStage

if TYPE_CHECKING:
    from evenflow.transforms.lab.training.reading import ReaderNetwork

UNSHOWN, SHOWN = ("gender",), ("age", "religion")  # attributes by whether it sees the new words
WEIGHTS = "trained.safetensors"  # all of a training's numbers, from which another may go on
WRITTEN = "written"  # the source of texts that are only learnt from
FEW = 50  # right sets from which an attribute gets a calibration of its own


def main(arguments: list[str] | None = None) -> None:
    """Read the arguments and train.

    Args:
        arguments: The command line's arguments; None: those of the process.

    Raises:
        SystemExit: An argument, the data or a package of the extra is missing or wrong.
    """
    parser = argparse.ArgumentParser(
        prog="python -m evenflow.pipelines.lab.train.reader",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("pretrained", type=Path, help="folder with model.safetensors, vocab.txt")
    parser.add_argument("out", type=Path, help="folder to write to")
    parser.add_argument(
        "--documents",
        type=Path,
        nargs="+",
        default=[Path(f"tests/data/documents{each}.jsonl.gz") for each in ("", "_written")],
        help="files of labelled documents (default: %(default)s)",
    )
    for name, value, help_ in (
        ("layers", 6, "of the encoder"),
        ("epochs", 4, "passes over the documents"),
        ("threads", 2, "of the processor"),
        ("limit", 0, "documents at most, for a trial; 0: all"),
        ("until", 1 << 30, "only rows with a lower number"),
        ("seed", 0, "of all random numbers"),
    ):
        parser.add_argument(f"--{name}", type=int, default=value, help=f"{help_} (%(default)s)")
    parser.add_argument(
        "--kept", type=float, default=0.5, help="share of easy passages that is read (%(default)s)"
    )
    parser.add_argument("--begin", type=Path, help="folder of an earlier training to go on from")
    given = parser.parse_args(arguments)
    try:
        train(given)
    except ImportError as error:
        sys.exit(f"training needs {error.name}: pip install 'evenflow[train]'")
    except (OSError, ValueError, KeyError) as error:
        sys.exit(str(error))


def train(given: Any) -> None:
    """Train, write, calibrate and print figures.

    Args:
        given: The arguments.

    Raises:
        ImportError: A package of the extra is missing.
        OSError: A file is missing.
        ValueError: A row is wrong.
        KeyError: The weights lack a tensor.
    """
    import torch
    from safetensors.torch import load_file, save_file

    from evenflow.transforms.lab.training import network, reading
    from evenflow.transforms.models import encoder

    torch.set_num_threads(given.threads)
    learnt, away = parts(given)
    print(f"{len(learnt)} documents to learn from, {len(away)} to calibrate by", flush=True)
    model = encoder.read_model(given.pretrained / encoder.VOCABULARY)
    read = network.tensors(given.pretrained / "model.safetensors")
    fresh = reading.ReaderNetwork(given.layers, len(read["embeddings.word_embeddings.weight"]))
    network.load_body(fresh.body, read)
    rates = reading.RATE, reading.HEADS_RATE
    if given.begin is not None:
        fresh.load_state_dict(load_file(given.begin / WEIGHTS))
        rates = reading.AGAIN
    say = functools.partial(print, flush=True)
    reading.train(fresh, learnt, model, given.epochs, given.seed, rates, given.kept, say)
    given.out.mkdir(parents=True, exist_ok=True)
    save_file(fresh.state_dict(), given.out / WEIGHTS)
    finish(fresh, learnt, away, given)


def parts(given: Any) -> tuple[list[Labelled], list[Labelled]]:
    """Read the documents to learn from, and the real ones that calibrate.

    Args:
        given: The arguments.

    Returns:
        Both. No document is in both, nor in the report.

    Raises:
        OSError: A file is missing.
        ValueError: A row is wrong.
    """
    from evenflow.transforms.lab.training import data, labelled

    own = labelled.part(
        (each for path in given.documents for each in labelled.read(path)), labelled.TRAIN
    )
    away = [each for each in own if each.source != WRITTEN and data.is_calibration(each.document)]
    held = {each.document for each in away}
    learnt = [each for each in own if each.document not in held]
    learnt = [each for each in learnt if each.number < given.until]
    return (learnt[: given.limit], away[: given.limit]) if given.limit else (learnt, away)


def finish(
    fresh: ReaderNetwork, learnt: Sequence[Labelled], away: Sequence[Labelled], given: Any
) -> None:
    """Write a trained network, fit the first stage, calibrate both by documents held out.

    Args:
        fresh: The network.
        learnt: The documents that it learnt from.
        away: The documents that calibrate.
        given: The arguments.
    """
    from evenflow.transforms.lab.training.evaluate import platt
    from evenflow.transforms.lab.training.export import write_reader
    from evenflow.transforms.models import encoder
    from evenflow.transforms.models.reader import Reader

    about: dict[str, Any] = {
        "layers": given.layers,
        "epochs": given.epochs,
        "documents": len({each.document for each in learnt}),
        "unshown": list(UNSHOWN),
        "cuts": {"all": {}},
    }
    vocabulary = given.pretrained / encoder.VOCABULARY
    write_reader(fresh, {"all": [1.0, 0.0]}, vocabulary, given.out, about)
    first = refit_first_stage(exchange_figures.Finder(FirstStage.shipped()), learnt, given.out)
    every = exchange_figures.SetJudge(Reader(given.out), first).judge(away)
    lines: dict[str, list[float]] = {}
    for name in ("all", *UNSHOWN, *SHOWN):
        rows = [each for each in every if each.whole and name in ("all", each.attribute)]
        if name == "all" or sum(each.right for each in rows) >= FEW:
            logits = np.array([each.logit for each in rows])
            lines[name] = platt(logits, np.array([each.right for each in rows]))
    chances = [each.probability(*lines.get(each.attribute, lines["all"])) for each in every]
    rated = list(zip(every, chances, strict=True))
    about["cuts"] = {
        name: exchange_figures.cuts(
            [
                (chance, each.right and each.whole)
                for each, chance in rated
                if name in ("all", each.attribute)
            ]
        )
        for name in ("all", *UNSHOWN, *SHOWN)
    }
    write_reader(fresh, lines, vocabulary, given.out, about)
    print("\n".join(exchange_figures.areas(every, chances)))
    print("\n".join(exchange_figures.table(every, chances, exchange_figures.right_mentions(away))))


def refit_first_stage(finder: exchange_figures.Finder, learnt: Any, out: Path) -> FirstStage:
    """Fit the first stage's head for exchanges anew; its vectors and its other head stay.

    Args:
        finder: Shows the exchanges of documents.
        learnt: The documents to learn from.
        out: The folder to write to.

    Returns:
        The first stage.
    """
    from evenflow.transforms.lab.training import distil
    from evenflow.transforms.models import files, static

    words = (files.SHIPPED / static.WORDS).read_text(encoding="utf-8").split("\n")
    with np.load(files.SHIPPED / static.TENSORS, allow_pickle=False) as read:
        tensors = {name: read[name] for name in read.files}
    scale = float(tensors["scale"])
    design = distil.Design(words, tensors["vectors"] * scale)
    shown, right = finder.windows(learnt)
    heads = {
        "exchange": distil.head(np.array(list(map(design.exchange, shown))), right),
        "stereotype": tensors["stereotype"],
    }
    about = {"exchanges": len(shown)}
    distil.write(words, tensors["vectors"], scale, heads, out, about)
    return FirstStage(out)


if __name__ == "__main__":
    main()
