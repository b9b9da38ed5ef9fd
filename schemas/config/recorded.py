"""The configuration that an output's ledger holds: data of whoever wrote it, which is only read."""

from __future__ import annotations

from typing import Any

from pydantic import ValidationError

from evenflow.schemas.config.whole import Config
from evenflow.schemas.renamed import renamed
from evenflow.wordlists import loader


class Recorded(Config):
    """A configuration that names parts and files, and leads to none of them.

    Plug-ins are names to show. Of word lists only those that ship are read.
    """

    @property
    def plugin_parts(self) -> dict[str, tuple[str, str]]:
        """None: what a ledger names is not loaded."""
        return {}

    @property
    def plugged_measures(self) -> tuple[str, ...]:
        """None: what a ledger names is not loaded."""
        return ()

    def word_list(self, attribute: str) -> loader.WordList:
        """The word list of an attribute, if it ships."""
        own = self.attributes[attribute]
        if own.finder is not None or (own.wordlist or attribute) not in loader.NAMED:
            raise loader.WordListError(
                f"{attribute}: its labels are not of a list that ships; what a ledger names is"
                " not opened"
            )
        return super().word_list(attribute)


def recorded(meta: Any) -> Recorded | None:
    """Read the configuration of an output's run; all that look at an output read it by this."""
    try:
        return Recorded.model_validate(renamed(meta["configuration"]))
    except (ValidationError, KeyError, TypeError, AttributeError):
        return None
