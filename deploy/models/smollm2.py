"""Turns a GGUF file into a folder of transformers: `python smollm2.py FILE FOLDER`.

The weights are dequantised once, to 32-bit floats, so that later loads take a second.
"""

from __future__ import annotations

import sys
from pathlib import Path

from transformers import AutoModelForCausalLM, AutoTokenizer


def main(path: Path, folder: Path) -> None:
    """Write config, tokenizer and weights."""
    given = {"gguf_file": path.name, "local_files_only": True}
    AutoTokenizer.from_pretrained(path.parent, **given).save_pretrained(folder)
    read = AutoModelForCausalLM.from_pretrained(path.parent, dtype="float32", **given)
    config = read.config
    del config.quantization_config  # of the file: a model that has it is not saved
    model = AutoModelForCausalLM.from_config(config)
    model.load_state_dict(read.state_dict())
    model.save_pretrained(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
