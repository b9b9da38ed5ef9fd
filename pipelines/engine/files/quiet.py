"""Silences what libraries log in worker processes; imported there before Beam.

Their log would mix with the messages of the parent, which reports errors in its own words.
"""

import logging

logging.getLogger().setLevel(logging.CRITICAL)
