"""Section `llm`: a language model that answers where the shipped models are unsure."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from evenflow.schemas.config.sections import Section, Share, section
from evenflow.schemas.messages import Problem, refuse
from evenflow.schemas.secrets import AddressOrNone, SecretPlace

Tiering = Literal["embedded", "cascade", "llm"]


class LlmModels(Section):
    """Models of single steps of section `llm`."""

    detection: str | None = Field(
        default=None,
        min_length=1,
        description=(
            "Model that detects stereotypes. null: llm.model. A larger model pays here and for"
            " substitution."
        ),
    )
    indicators: str | None = Field(
        default=None,
        min_length=1,
        description=(
            "Model that finds the linguistic indicators. null: llm.model. A smaller one is enough."
        ),
    )
    substitution: str | None = Field(
        default=None,
        min_length=1,
        description="Model that judges substitutions. null: llm.model.",
    )


class Llm(Section):
    """Section `llm`."""

    url: AddressOrNone = Field(
        default=None,
        description=(
            "Address of an OpenAI-compatible server, such as http://127.0.0.1:8000, or where it"
            " is: {env: NAME} or {file: PATH}. null: no LLM is asked."
        ),
    )
    model: str | None = Field(
        default=None, min_length=1, description="Name of the model at that server."
    )
    models: LlmModels = section(LlmModels, "Other models at that server for single steps.")
    key: SecretPlace = Field(
        default=None,
        description=(
            "Where the server's key is: {env: NAME} or {file: PATH}, never the key itself. null:"
            " the server needs none."
        ),
    )
    detection: Tiering = Field(
        default="cascade",
        description=(
            "What detects stereotypes. embedded: the shipped model. llm: the LLM. cascade: the LLM"
            " answers only where the embedded model is unsure. cascade is the default because it"
            " has most of the gain at a fraction of the cost."
        ),
    )
    indicators: Tiering = Field(
        default="cascade",
        description="What finds the linguistic indicators. The values are those of detection.",
    )
    substitution: Tiering = Field(
        default="cascade",
        description=(
            "What judges the substitutions that the plan has drawn. embedded: the shipped model."
            " cascade: the LLM too, of substitutions that the shipped model would refuse, though"
            " they may be right. llm: the LLM too, also of those that it would accept."
        ),
    )
    tokens: int = Field(
        default=5_000_000,
        ge=0,
        description=(
            "Most tokens of a pane's questions and their answers, by their lengths. The most"
            " valuable questions are asked, where the embedded model is nearest to its decision;"
            " answers from the cache count too. A block with a question is read twice. 5,000,000:"
            " some 5,000 questions, 40 minutes of a server with 2,000 tokens a second."
        ),
    )
    most_fallbacks: Share = Field(
        default=0.1,
        description=(
            "Largest share of a pane's questions that the embedded model may answer because the"
            " LLM failed (away, slow, full, wrong answers). A spent budget is no failure. 0.1: a"
            " busy server fails that often; with more, the pane is not what was asked for."
        ),
    )
    fallbacks: Literal["warn", "block"] = Field(
        default="warn",
        description=(
            "Verdict on a pane with more fallbacks than that. warn is the default because the"
            " small models did judge its text."
        ),
    )
    cache: str | None = Field(
        default=None,
        description=(
            "File of answers that runs share. null: evenflow/llm.sqlite in the user's cache folder."
        ),
    )
    deadline: float = Field(
        default=120.0,
        gt=0,
        description=(
            "Seconds for a question with its retries. After that the embedded model's answer"
            " counts."
        ),
    )
    concurrency: int = Field(
        default=32,
        ge=1,
        description=(
            "Most requests at once in a worker. 32: enough to fill the batches of one GPU."
        ),
    )

    @model_validator(mode="after")
    def _server_and_model(self) -> Llm:
        """Refuse a server without a model."""
        if self.url is not None and self.model is None:
            refuse([Problem(("model",), "the model's name at the server is missing")])
        return self
