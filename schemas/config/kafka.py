"""Section `kafka`: how a cluster is reached."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from evenflow.schemas.config.sections import Section
from evenflow.schemas.secrets import check_security


class Kafka(Section):
    """Section `kafka`."""

    security: Annotated[dict[str, Any], BeforeValidator(check_security)] = Field(
        default_factory=dict,
        description=(
            "Settings of kafka-python for TLS and SASL, such as security_protocol and ssl_cafile."
            " A secret (sasl_plain_password, ssl_password) is {env: NAME} or {file: PATH}, never"
            " the value."
        ),
    )
    grace: float = Field(
        default=2.0,
        ge=0,
        description=(
            "Seconds after the end of a pane's span for which records of quiet partitions are"
            " waited for. Records that come later are in a later pane. 2: producers gather records"
            " for some 100 ms before they send them."
        ),
    )
    delivery_seconds: float = Field(
        default=20.0,
        gt=0,
        description=(
            "Seconds that a broker may take to confirm what is published. After that the pane is"
            " tried again. 20: a broker that restarts is back by then."
        ),
    )
    transaction_seconds: float = Field(
        default=90.0,
        ge=1,
        description=(
            "Seconds that publishing a pane may take; then the broker aborts it, and it is tried"
            " again. Readers of committed records wait as long for a gate that was killed and does"
            " not start again. 90: a pane of 64 MiB takes seconds. A broker allows 900 by default."
        ),
    )
    compression: Literal["none", "gzip", "zstd"] = Field(
        default="zstd",
        description=(
            "Compression of what is published. zstd: a topic's size limit counts the compressed"
            " bytes, and all Kafka clients read it."
        ),
    )
    proof_topic: str = Field(
        default="evenflow-published",
        min_length=1,
        description=(
            "Compacted topic in which each transaction records the panes it published. It is"
            " created if it is missing. All gates of a cluster share it. If it was deleted, the"
            " next start needs --publish-from to say what was published."
        ),
    )
