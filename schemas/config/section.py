"""The base of the configuration's sections, and what several of them use."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

# Allowed error of the sum of a target's shares: three thirds written with seven digits pass
SHARES_TOLERANCE = 1e-6

Share = Annotated[float, Field(ge=0, le=1)]


class Section(BaseModel):
    """Base of the sections: unknown keys and values of another type are errors."""

    model_config = ConfigDict(extra="forbid", strict=True, allow_inf_nan=False)
