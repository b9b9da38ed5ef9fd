"""Bias score's experiments: hard-debiased vectors, SEAT, and the sentences that lean most.

What the gate measures is in `transforms.measures.bias_score`.
"""
