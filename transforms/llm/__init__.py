"""Steps that a language model takes over: its questions, its checked answers, and the budget.

The connection to a server belongs in client; the texts of the questions belong in prompts.
"""
