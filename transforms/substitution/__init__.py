"""Counterfactual substitution: which words of a group change together, and what each becomes.

Proposes edits and judges them. `repair` decides which of them a pane needs.
"""
