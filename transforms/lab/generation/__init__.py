"""Writes the records that a plan of coverage asks for, and checks each of them.

After IntersectionRE, section 3.5. Templates are sentences of the corpus; a language model writes
candidates in their style; one that fails a check is counted by its reason and replaced within a
budget.
"""
