"""Named people: what the first names of a text say of the shares of women and men.

A second view of gender beside the words of its list, as the page “Names” says. It is off unless the
configuration names it below `measures`.
"""

from evenflow.transforms.measures.names.measure import NamedPeople

__all__ = ["NamedPeople"]
