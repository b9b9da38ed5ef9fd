"""Plans of coverage: which records to add, as an integer program, and what was planned.

What the gate measures of coverage is in `transforms.measures.coverage`.
"""
