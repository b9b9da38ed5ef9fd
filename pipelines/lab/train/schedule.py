"""What training sets: the learning rate of each step, and the dropout of a model's layers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenflow.pipelines.lab.train.errors import TrainInputError

if TYPE_CHECKING:
    from torch.nn import Module


def set_dropout(model: Module, share: float) -> None:
    """Set the dropout of all layers, which Webster et al. (2020) raise against bias.

    The model's configuration stays as it is.
    """
    from torch import nn

    found = False
    for each in model.modules():
        if isinstance(each, nn.Dropout):
            each.p, found = share, True
        if isinstance(getattr(each, "attention_dropout", None), float):  # llama and its kin
            setattr(each, "attention_dropout", share)  # noqa: B010 (a module's own number)
            found = True
    if not found:
        raise TrainInputError("model_dropout: this model has no dropout")


def rate(step: int, steps: int, warmup: int, highest: float) -> float:
    """The learning rate of a step: it rises linearly from 0, then falls linearly to 0."""
    rise = min(warmup, steps - 1)
    if step < rise:
        return highest * (step + 1) / (rise + 1)
    return highest * (steps - step) / max(steps - rise, 1)
