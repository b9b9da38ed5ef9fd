"""Word lists as data, their loader, and the spelling rules of labels.

The search for labels in a text belongs in transforms/labels.
"""
