"""Bias score's experiments: hard-debiased vectors and SEAT.

What the gate measures is in `transforms.measures.bias_score`.
"""
