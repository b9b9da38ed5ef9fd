"""An encoder on pairs without, or with copies of, those of a high bias score (Dolci et al. 2023).

    python tests/benchmarks/bias_encoder.py DIR VECTORS

Writes build/encoder/pairs.jsonl, the pairs of MRPC and STS-B (train and development parts; STS-B's
scores as whole numbers), and runs `evenflow lab experiment docs/experiment/encoder.yaml` on them.
DIR is the folder of --benchmark-data, with seat/ and senteval/. VECTORS is a file of word vectors.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from evenflow.transforms.lab.benchmarks import senteval
from evenflow.transforms.lab.benchmarks.data import Data

FOLDER = Path("build/encoder")


def main() -> None:
    """Write the pairs, and run the experiment."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, given in zip(("data", "vectors"), sys.argv[1:], strict=True):
        (FOLDER / name).unlink(missing_ok=True)
        (FOLDER / name).symlink_to(Path(given).resolve())
    with (FOLDER / "pairs.jsonl").open("w", encoding="utf-8") as file:
        for item in senteval.read(Data(FOLDER / "data")):
            if item.kind in ("mrpc", "stsb") and item.content["part"] != senteval.TEST:
                texts = dict(zip(("premise", "hypothesis"), item.content["texts"], strict=True))
                label = round(float(item.content["label"]))
                file.write(json.dumps({**texts, "label": label, "task": item.kind}) + "\n")
    subprocess.run(["evenflow", "lab", "experiment", "docs/experiment/encoder.yaml"], check=True)


if __name__ == "__main__":
    main()
