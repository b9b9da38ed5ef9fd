"""Detection and scoring of stereotypes in sentences, and the filter that acts on them.

The encoder's weights belong in `models`; questions to a language model belong in `llm`.
"""
