"""Loads a language model from a folder, with an adapter of LoRA where there is one."""

from __future__ import annotations

import hashlib
import logging
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from evenflow.schemas.errors import USAGE, EvenflowError

Kind = Literal["causal", "masked", "encoder"]
HEADS = {"causal": ("ForCausalLM", "LMHeadModel"), "masked": ("ForMaskedLM", "ForPreTraining")}
TOKENIZERS = ("tokenizer.json", "tokenizer.model", "vocab.txt", "vocab.json")
ADAPTER = ("adapter_config.json", "adapter_model.safetensors")
MADE = Path("build/models")  # where `make models` puts models
UNBOUNDED = 1_000_000  # tokens: a tokenizer that knows no bound says 10^30
BLOCK = 8 << 20  # bytes that are digested at a time


class LanguageModelError(EvenflowError):
    """A model cannot be used; the message says what is wrong and what to do."""

    status = USAGE


@dataclass(frozen=True)
class Loaded:
    """A model in memory.

    Attributes:
        kind: What its head predicts: the next word, a masked word, or (encoder) nothing.
        model: The model of transformers, in evaluation mode.
        context: Most tokens of a text.
    """

    kind: Kind
    model: Any
    tokenizer: Any
    device: Any
    context: int


def folder_of(model: str) -> Path:
    """The folder of a model.

    Args:
        model: A folder, a name in build/models, or one in the local cache of transformers.

    Returns:
        The folder, which has a configuration and a tokenizer.

    Raises:
        LanguageModelError: There is none; nothing is downloaded.
    """
    folder = Path(model).expanduser()
    if not folder.is_dir() and (MADE / model).is_dir():
        folder = MADE / model
    if not folder.is_dir():
        from huggingface_hub import snapshot_download
        from huggingface_hub.errors import HFValidationError, LocalEntryNotFoundError

        try:
            folder = Path(snapshot_download(model, local_files_only=True))
        except (HFValidationError, LocalEntryNotFoundError, OSError) as error:
            raise LanguageModelError(
                f"{model}: there is no such folder, and no model of that name in the local cache;"
                " give the folder of a model (nothing is downloaded)"
            ) from error
    if not (folder / "config.json").is_file():
        raise LanguageModelError(f"{folder}: there is no config.json; it is no folder of a model")
    if not any((folder / name).is_file() for name in TOKENIZERS):
        raise LanguageModelError(
            f"{folder}: there is no tokenizer ({', '.join(TOKENIZERS)}); copy the model's here"
        )
    return folder


def kind_of(model: str) -> Kind:
    """What a model predicts, as its configuration says.

    Args:
        model: A folder, or a name in the local cache.

    Raises:
        LanguageModelError: There is no such model, or its configuration cannot be read.
    """
    names = getattr(config_of(folder_of(model)), "architectures", None) or ()
    for kind, endings in HEADS.items():
        if any(name.endswith(endings) for name in names):
            return "causal" if kind == "causal" else "masked"
    return "encoder"


def load(model: str, adapter: str | None = None, kind: Kind | None = None) -> Loaded:
    """Load a model for computing.

    Args:
        model: A folder, or a name in the local cache.
        adapter: Folder of a LoRA adapter that was trained on this model; it is merged into it.
        kind: The kind that is needed; None for that which the model is.

    Returns:
        The model, on a GPU where there is one. On a CPU it computes in 32-bit floats.

    Raises:
        LanguageModelError: The model, its tokenizer or the adapter cannot be used, or the model is
            of another kind.
    """
    folder = folder_of(model)  # before what takes seconds to import, or is not installed
    import torch
    import transformers
    from safetensors import SafetensorError

    own = kind_of(model)
    kind = kind or own
    if kind not in (own, "encoder"):
        what = {"causal": "predict the next word", "masked": "predict masked words"}[kind]
        raise LanguageModelError(f"{folder}: this model does not {what}, which is needed here")
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    makers = {
        "causal": transformers.AutoModelForCausalLM,
        "masked": transformers.AutoModelForMaskedLM,
        "encoder": transformers.AutoModel,
    }
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    config = config_of(folder)
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(folder, local_files_only=True)
        # Weights as safetensors alone: the other form is a pickle, which is code
        read, info = makers[kind].from_pretrained(
            folder,
            config=config,
            local_files_only=True,
            use_safetensors=True,
            output_loading_info=True,
            dtype="auto" if device.type == "cuda" else torch.float32,
        )
    except (OSError, ValueError, RuntimeError, KeyError, SafetensorError) as error:
        raise LanguageModelError(
            f"{folder}: the model cannot be loaded ({_line(error)})"
        ) from error
    missing = sorted(info["missing_keys"])
    # What an encoder adds on top, and no result here depends on
    if kind == "encoder":
        missing = [name for name in missing if "pooler" not in name]
    if missing or info["mismatched_keys"]:
        wrong = (missing or [str(each) for each in sorted(info["mismatched_keys"])])[0]
        raise LanguageModelError(
            f"{folder}: the weights lack {wrong}, which its configuration asks for; they are of"
            " another model, or of one without this head"
        )
    if adapter:
        read = _with_adapter(read, tokenizer, Path(adapter).expanduser())
    if tokenizer.pad_token_id is None:
        tokenizer.pad_token = tokenizer.eos_token
    context = min(
        getattr(config, "max_position_embeddings", None) or UNBOUNDED,
        tokenizer.model_max_length or UNBOUNDED,
    )
    return Loaded(kind, read.to(device).eval(), tokenizer, device, context)


def digest(model: str, adapter: str | None = None) -> str:
    """SHA-256 over the files that a model's answers depend on.

    Args:
        model: A folder, or a name in the local cache.

    Raises:
        LanguageModelError: There is no such model.
        OSError: A file cannot be read.
    """
    whole = hashlib.sha256()
    folders = [folder_of(model)] + ([Path(adapter).expanduser()] if adapter else [])
    for number, folder in enumerate(folders):
        wanted = (".safetensors", ".json", ".txt", ".model")
        for path in sorted(each for each in folder.iterdir() if each.suffix in wanted):
            whole.update(f"{number}/{path.name}\0".encode())
            with path.open("rb") as file:
                while block := file.read(BLOCK):
                    whole.update(block)
    return whole.hexdigest()


def config_of(folder: Path) -> Any:
    """Read a model's configuration.

    Raises:
        LanguageModelError: It cannot be read.
    """
    from transformers import AutoConfig

    try:
        return AutoConfig.from_pretrained(folder, local_files_only=True)
    except (OSError, ValueError, KeyError) as error:
        raise LanguageModelError(
            f"{folder / 'config.json'}: it cannot be read ({_line(error)})"
        ) from error


def _with_adapter(model: Any, tokenizer: Any, folder: Path) -> Any:
    """The model with a LoRA adapter merged into it. Raises LanguageModelError."""
    from peft import PeftModel
    from transformers import AutoTokenizer

    for name in ADAPTER:
        if not (folder / name).is_file():
            raise LanguageModelError(f"{folder}: there is no {name}; it is no folder of an adapter")
    if any((folder / name).is_file() for name in TOKENIZERS):
        own = AutoTokenizer.from_pretrained(folder, local_files_only=True)
        if own.get_vocab() != tokenizer.get_vocab():
            raise LanguageModelError(
                f"{folder}: the adapter's tokenizer is not that of the model; give the model that"
                " it was trained on"
            )
    warnings = logging.getLogger("peft")
    level = warnings.level
    warnings.setLevel(logging.ERROR)
    try:
        adapted = PeftModel.from_pretrained(model, str(folder), local_files_only=True)
        return adapted.merge_and_unload()
    except (OSError, ValueError, RuntimeError, KeyError, TypeError) as error:
        raise LanguageModelError(
            f"{folder}: the adapter does not fit this model ({_line(error)})"
        ) from error
    finally:
        warnings.setLevel(level)


def _line(error: Exception) -> str:
    """The first line of a library's message."""
    return next((line.strip() for line in str(error).splitlines() if line.strip()), "unknown")[:300]
