"""Learnt models: the encoder with its heads, the static embeddings before it, and how they are
trained.
"""
