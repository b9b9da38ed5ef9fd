"""Prompts for an LLM: versioned templates with examples, answer schemas, and their loader.

The code that asks, and that uses an answer, belongs in transforms.
"""
