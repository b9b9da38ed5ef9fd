"""Associations: which words that name no group stand in sentences of which group.

`counting` counts words by group in documents, `leanings` says how surely each word leans to a
group.
"""
