"""The connection to an OpenAI-compatible server: requests, retries, cache, checks, and vLLM.

The questions and what their answers mean belong in llm.
"""
