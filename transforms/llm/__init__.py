"""A language model behind the judges: how it is asked (inference_*), what it is asked, how answers
are checked (llm_*).
"""
