"""What happens to text, one step one file: pure functions first, the Beam wrapper last.

Nothing here decides about a pane; that belongs in gates.
"""
