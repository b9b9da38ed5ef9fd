"""The LLM as finder of linguistic indicators: ten questions about a sentence.

The heads of the encoder give what the ten questions leave out: explanation, signal words, stance
and the strength of the content. The LLM finds indicators and never states a score, as in the main
paper (4.2.3); a linear sum over its answers is the score.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from evenflow.schemas.config import Config
from evenflow.transforms.llm.cascade import Labels, Tiered, selection
from evenflow.transforms.llm.questions import CONTRADICTION, QUOTE, Asker, Question, RejectedError
from evenflow.transforms.llm.quotes import find_quote
from evenflow.transforms.measures.stereotypes import calibration
from evenflow.transforms.measures.stereotypes import indicators as embedded_indicators
from evenflow.transforms.measures.stereotypes.indicators import Indicator, Indicators
from evenflow.transforms.measures.stereotypes.llm_detector import about_sentence, label_span
from evenflow.transforms.measures.stereotypes.masking import is_pronoun

TARGET = {"generic": "generic target", "specific": "specified target"}
SITUATION = {
    "behaviour": "situational behaviour",
    "characteristic": "enduring characteristics",
    "other": "other",
    None: "other",
}
# The situations that have a sentiment and a generalisation
DESCRIBED = ("behaviour", "characteristic")
AROUND = 0.15  # the embedded indicators are unsure if the strength is so near to its threshold
# Values in place of the heads' for a sentence that only the LLM can judge
UNFOUND = {"explanation": "no", "signal_word": "none", "stance": "stated"}


class TieredScorer(Tiered[Indicators]):
    """A scorer of two tiers, in the protocol of `judging.IndicatorScorer`; see `Tiered`.

    It asks the ten questions of stereotype assessment (main paper, D.1 and D.2).
    """

    def embedded(
        self, sentences: Sequence[str], labels: Sequence[Labels]
    ) -> list[Indicators | None]:
        """The indicators of the heads."""
        return self.model.indicators(sentences, labels)

    def score(self, value: Indicators) -> float:
        """The strength that the heads give."""
        return value.strength

    def question(self, sentence: str, labels: Labels) -> Question | None:
        """The question about a sentence; None if the sentence is too long."""
        return about_sentence("indicators", sentence, labels)

    def check(self, sentence: str, labels: Labels, value: dict[str, Any]) -> Indicators:
        """The indicators that an answer stands for, with their score; 0 if no group is named."""
        if not _is_consistent(value):
            raise RejectedError(CONTRADICTION)
        if not value["has_label"]:
            return Indicators(sentence, {"label": Indicator("no", ())}, score=0.0)
        label = (label_span(sentence, labels, value["label"]),)
        shared = _quoted(sentence, value["information"])
        heads = self.model.indicators([sentence], [labels])[0]
        found = {**_found(value, label, shared), **_of_heads(heads)}
        score = self.model.scsc(found)
        return replace(heads or Indicators(sentence), found=found, score=score)

    def indicators(
        self, sentences: Sequence[str], labels: Sequence[Labels]
    ) -> list[Indicators | None]:
        """The indicators of each of N sentences with their score; None: they cannot be judged."""
        return [each.value for each in self.judge(sentences, labels)]


def tiered(config: Config, asker: Asker) -> TieredScorer:
    """The shipped scorer with the language model of a configuration."""
    middle = config.stereotypes.threshold
    band = max(0.0, middle - AROUND), min(1.0, middle + AROUND)
    select = selection(config.llm.indicators, band)
    acting = calibration.acting(config)
    own = embedded_indicators.shipped()
    return TieredScorer(own, asker, select, middle, acting, is_pronoun)


def _is_consistent(value: Mapping[str, Any]) -> bool:
    """Whether the fields of an answer agree with each other."""
    if not value["has_label"]:
        return all(part is None for name, part in value.items() if name != "has_label")
    if any(value[name] is None for name in ("label", "target", "connotation", "grammar", "form")):
        return False
    if (value["information"] is None) != (value["situation"] is None):
        return False
    is_described = value["situation"] in DESCRIBED
    if any((value[name] is not None) != is_described for name in ("sentiment", "generalisation")):
        return False
    return not (value["target"] == "generic" and value["form"] == "individual")


def _quoted(sentence: str, quote: str | None) -> tuple[tuple[int, int], ...]:
    """The place of a quote, as zero or one span; raises RejectedError if it is not there."""
    span = None if quote is None else find_quote(sentence, quote)
    if quote is not None and span is None:
        raise RejectedError(QUOTE)
    return () if span is None else (span,)


def _found(
    value: Mapping[str, Any],
    label: tuple[tuple[int, int], ...],
    shared: tuple[tuple[int, int], ...],
) -> dict[str, Indicator]:
    """The answer as `Indicators`, each with the words it rests on."""
    is_described = value["situation"] in DESCRIBED
    return {
        "label": Indicator("yes", label),
        "target": Indicator(TARGET[value["target"]], label),
        "connotation": Indicator(
            value["connotation"], () if value["connotation"] == "neutral" else label
        ),
        "gram_form": Indicator(value["grammar"], label),
        "ling_form": Indicator(value["form"], label),
        "content": Indicator("shared" if shared else "none", shared),
        "behaviour": Indicator("yes" if is_described else "no", shared),
        "situation": Indicator(SITUATION[value["situation"]], shared),
        "evaluation": Indicator(value["sentiment"] or "none", shared if is_described else ()),
        "generalization": Indicator(
            value["generalisation"] or "none", shared if is_described else ()
        ),
    }


def _of_heads(heads: Indicators | None) -> dict[str, Indicator]:
    """The indicators that the ten questions leave out."""
    if heads is None:
        return {name: Indicator(value, ()) for name, value in UNFOUND.items()}
    return {name: heads.found[name] for name in (*UNFOUND, "strength") if name in heads.found}
