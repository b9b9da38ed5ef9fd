"""Opens the folder of a model: its settings, tokenizer and weights, with clear errors."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

from evenflow.pipelines.train.errors import TrainInputError

HEADS = {"causal": ("ForCausalLM", "LMHeadModel"), "mlm": ("ForMaskedLM", "ForPreTraining")}
CLASSES = {"causal": "AutoModelForCausalLM", "mlm": "AutoModelForMaskedLM"}
NAMES = {"causal": "causal language model", "mlm": "masked language model"}


def folder_of(model: str) -> Path:
    """Find a model's folder.

    Args:
        model: A folder, or the name of one that `make models` has made in build/models.

    Returns:
        The folder.

    Raises:
        TrainInputError: There is none, or it holds no model.
    """
    for folder in (Path(model), Path("build/models") / model):
        if folder.is_dir():
            if not (folder / "config.json").exists():
                raise TrainInputError(
                    f"{folder}: no config.json here, so this is no model's folder"
                )
            return folder
    raise TrainInputError(f"{model}: no such folder, here or in build/models; try `make models`")


def digests(folder: Path) -> dict[str, str]:
    """SHA-256 of each file of a model's folder, by name. Raises OSError."""
    out: dict[str, str] = {}
    for path in sorted(folder.iterdir()):
        if path.is_file():
            with path.open("rb") as file:
                out[path.name] = hashlib.file_digest(file, "sha256").hexdigest()
    return out


def tokenizer(folder: Path) -> Any:
    """Load a model's tokenizer. Raises TrainInputError."""
    from transformers import AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    logging.set_verbosity_error()
    try:
        return AutoTokenizer.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise TrainInputError(f"{folder}: no tokenizer here that can be read: {error}") from error


def settings(folder: Path, objective: str) -> Any:
    """Load a model's settings.

    Args:
        folder: The model's folder.
        objective: causal or mlm: what the model must be for.

    Returns:
        Its configuration of transformers.

    Raises:
        TrainInputError: They cannot be read, or the model is for something else.
    """
    from transformers import AutoConfig

    try:
        found: Any = AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise TrainInputError(f"{folder}: its settings cannot be read: {error}") from error
    made: list[str] = getattr(found, "architectures", None) or []
    if made and not any(name.endswith(HEADS[objective]) for name in made):
        raise TrainInputError(f"{folder}: a {made[0]} is no {NAMES[objective]}")
    return found


def weights(folder: Path, objective: str, config: Any, dtype: Any) -> Any:
    """Load a model's weights.

    Args:
        folder: The model's folder.
        objective: causal or mlm.
        config: What `settings` returned.
        dtype: Type of the weights.

    Returns:
        The model.

    Raises:
        TrainInputError: They cannot be read.
    """
    import transformers
    from safetensors import SafetensorError

    kind = getattr(transformers, CLASSES[objective])
    try:
        return kind.from_pretrained(folder, config=config, dtype=dtype, local_files_only=True)
    except (OSError, ValueError, KeyError, RuntimeError, SafetensorError) as error:
        raise TrainInputError(f"{folder}: its weights cannot be read: {error}") from error
