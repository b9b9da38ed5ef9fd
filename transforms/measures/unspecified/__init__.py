"""People without a group: how many words for people say none of a list's groups.

It is off unless the configuration names it below `measures`, and judges nothing.
"""

from evenflow.transforms.measures.unspecified.measure import UnspecifiedPeople

__all__ = ["UnspecifiedPeople"]
