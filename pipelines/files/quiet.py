"""Imported before Beam in worker processes: what libraries log there is no message of ours, and
would mix with them.

Errors are raised and told by the parent, in its own words.
"""

import logging

logging.getLogger().setLevel(logging.CRITICAL)
