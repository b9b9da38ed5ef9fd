"""Sets libraries up in worker processes; imported there before any of them.

Their log would mix with the messages of the parent, which reports errors in its own words.
"""

import logging

from evenflow.pipelines.engine.one_thread import one_thread

one_thread()

logging.getLogger().setLevel(logging.CRITICAL)
