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

NAME = "checkpoint.safetensors"


def trained(model: nn.Module) -> dict[str, nn.Parameter]:
    """The weights that are trained, by name."""
    return {name: each for name, each in model.named_parameters() if each.requires_grad}


def save(folder: Path, model: nn.Module, optimizer: Optimizer, facts: Mapping[str, Any]) -> None:
    """Write a checkpoint in the place of the last one; it is durable when this returns."""
    from safetensors.torch import save as serialised

    tensors: dict[str, Tensor] = {
        f"model/{name}": each.detach().contiguous() for name, each in trained(model).items()
    }
    plain: dict[str, Any] = {}
    for number, state in optimizer.state_dict()["state"].items():
        for key, value in state.items():
            if hasattr(value, "contiguous"):
                tensors[f"optimizer/{number}/{key}"] = value.detach().contiguous()
            else:
                plain[f"{number}/{key}"] = value
    metadata = {"facts": json.dumps({**facts, "optimizer": plain}, sort_keys=True)}
    Directory(folder).write(NAME, serialised(tensors, metadata))


def load(folder: Path, model: nn.Module, optimizer: Optimizer) -> dict[str, Any] | None:
    """Set model and optimizer back to the checkpoint."""
    import torch
    from safetensors import safe_open

    if not (folder / NAME).exists():
        return None
    state: dict[int, dict[str, Any]] = {}
    with safe_open(folder / NAME, framework="pt") as file, torch.no_grad():
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
    optimizer.load_state_dict({**optimizer.state_dict(), "state": state})
    return facts
