"""The configuration: a section a file, the whole of them, and how it is read."""

from evenflow.schemas.config.loading import ConfigError as ConfigError
from evenflow.schemas.config.loading import commented as commented
from evenflow.schemas.config.loading import described as described
from evenflow.schemas.config.loading import load as load
from evenflow.schemas.config.loading import value as value
from evenflow.schemas.config.recorded import Recorded as Recorded
from evenflow.schemas.config.recorded import recorded as recorded
from evenflow.schemas.config.whole import Config as Config
