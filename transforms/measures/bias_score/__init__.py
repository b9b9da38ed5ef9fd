"""Bias score: what the neutral words of a sentence lean to (Dolci et al. 2023).

Word vectors, the direction of an attribute in them, how much each word counts, and the scores of
sentences with their sums belong here. What a pane's figures lead to belongs in `gates`.
"""
