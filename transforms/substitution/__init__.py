"""Counterfactual substitution, piece by piece: words and their roles, who is meant, what bars a
change, what a word becomes.
"""
