"""Models as benchmarks ask them, each loaded when it is first needed."""

from __future__ import annotations

from typing import Any

from evenflow.transforms.lab.benchmarks.suite import Suite
from evenflow.transforms.lab.language_models.causal import CausalModel
from evenflow.transforms.lab.language_models.masked import MaskedModel
from evenflow.transforms.models import loading
from evenflow.transforms.models.encoding import SentenceEncoder, pooling


class Models:
    """A model of a folder, with or without its head."""

    def __init__(self, model: str, adapter: str | None = None):
        self._model, self._adapter = model, adapter
        self._kind = loading.kind_of(model)
        self._loaded: tuple[str, Any] | None = None
        self.name = str(loading.folder_of(model))

    def kind(self, suite: Suite) -> str:
        """How a suite asks this model."""
        if "encoder" in suite.ABOUT.models:
            return "encoder"
        if self._kind not in suite.ABOUT.models:
            what = " or ".join(each for each in suite.ABOUT.models if each in ("causal", "masked"))
            raise loading.LanguageModelError(
                f"{self.name}: {suite.ABOUT.name} needs a {what} language model, and this model is"
                f" {'an encoder without a head' if self._kind == 'encoder' else self._kind}"
            )
        return self._kind

    def digest(self) -> str:
        """SHA-256 of the model's files, and what was asked of them. Raises OSError."""
        return loading.digest(self._model, self._adapter)

    def ready(self, suite: Suite) -> Any:
        """The model, loaded for a suite."""
        kind = self.kind(suite)
        if self._loaded is None or self._loaded[0] != kind:
            self._loaded = None  # so that there are never two in memory
            loaded = loading.load(self._model, self._adapter, kind)  # type: ignore[arg-type]
            if kind == "encoder":
                how = pooling(loading.folder_of(self._model), self._kind)
                self._loaded = kind, SentenceEncoder(loaded, how)
            else:
                made = CausalModel(loaded) if kind == "causal" else MaskedModel(loaded)
                self._loaded = kind, made
        return self._loaded[1]
