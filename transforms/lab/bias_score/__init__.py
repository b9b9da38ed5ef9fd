"""Bias score's experiments: SEAT, and the sentences that lean most.

What the gate measures is in `transforms.measures.bias_score`.
"""
