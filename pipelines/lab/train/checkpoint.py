"""A checkpoint of training: one file, replaced as a whole, without pickles."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evenflow.transforms.storage.directory import Directory

if TYPE_CHECKING:
    from torch import Tensor, nn
    from torch.optim import Optimizer

NAME, BEST = "checkpoint.safetensors", "best.safetensors"


def trained(model: nn.Module) -> dict[str, nn.Parameter]:
    """The weights that are trained, by name."""
    return {name: each for name, each in model.named_parameters() if each.requires_grad}


def save(
    folder: Path,
    model: nn.Module,
    optimizer: Optimizer | None,
    facts: Mapping[str, Any],
    name: str = NAME,
) -> None:
    """Write a checkpoint in the place of the last one; it is durable when this returns.

    Args:
        folder: Where it goes.
        model: Its trained weights are kept.
        optimizer: Its state is kept; None: the weights alone.
        facts: What else training goes on from, as JSON.
        name: Name of the file.

    Raises:
        OSError: The file cannot be written.
    """
    from safetensors.torch import save as serialised

    tensors: dict[str, Tensor] = {
        f"model/{name}": each.detach().contiguous() for name, each in trained(model).items()
    }
    plain: dict[str, Any] = {}
    states = {} if optimizer is None else optimizer.state_dict()["state"]
    for number, state in states.items():
        for key, value in state.items():
            if hasattr(value, "contiguous"):
                tensors[f"optimizer/{number}/{key}"] = value.detach().contiguous()
            else:
                plain[f"{number}/{key}"] = value
    metadata = {"facts": json.dumps({**facts, "optimizer": plain}, sort_keys=True)}
    Directory(folder).write(name, serialised(tensors, metadata))


def load(
    folder: Path, model: nn.Module, optimizer: Optimizer | None, name: str = NAME
) -> dict[str, Any] | None:
    """Set model and optimizer back to the checkpoint.

    Args:
        folder: Where it is.
        model: Its trained weights are set.
        optimizer: Its state is set; None: the weights alone.
        name: Name of the file.

    Returns:
        The facts; None if there is no checkpoint.

    Raises:
        OSError: The file cannot be read.
    """
    import torch
    from safetensors import safe_open

    if not (folder / name).exists():
        return None
    state: dict[int, dict[str, Any]] = {}
    with safe_open(folder / name, framework="pt") as file, torch.no_grad():
        facts = json.loads(file.metadata()["facts"])
        weights = trained(model)
        for key in file.keys():  # noqa: SIM118 (it is no mapping)
            kind, _, own = key.partition("/")
            if kind == "model":
                weights[own].copy_(file.get_tensor(key))
            else:
                number, _, entry = own.partition("/")
                state.setdefault(int(number), {})[entry] = file.get_tensor(key)
    for key, value in facts.pop("optimizer").items():
        number, _, entry = key.partition("/")
        state.setdefault(int(number), {})[entry] = value
    if optimizer is not None:
        optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    return facts
